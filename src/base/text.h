// Input: byte strings, most of them paths, which on Linux are bytes and need not be UTF-8.
// Output: hexadecimal, base64, matches of patterns, and text that is safe to print or to put into JSON.
// Never: changes a path that will be opened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Returns the bits as lower-case hexadecimal, most significant first, right-aligned in ceil(bits / 4) digits.
std::string hex_of_bits(std::span<const std::uint8_t> bits);
std::string hex_of_bytes(std::span<const std::uint8_t> bytes);

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

bool is_utf8(std::string_view bytes);
// Returns the UTF-8 encoding of a code point; empty for 0, surrogates and numbers above U+10FFFF.
std::string encode_utf8(std::uint32_t code);
// Returns the text with every byte that is not UTF-8 replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view bytes);
// Returns replace_invalid_utf8() of the bytes with control characters and bidirectional or invisible marks escaped. So
// a file name can neither control a terminal nor look like another name.
std::string escape_unprintable(std::string_view bytes);

// Matches a shell pattern against a whole path: * and ? do not match '/', ** does, and [a-z] is a class. A pattern
// without '/' is compared with the last component only.
bool glob_match(std::string_view pattern, std::string_view path);
// True if the pattern matches an absolute path or a folder that contains it. A pattern that does not begin with '/' may
// match from any folder on: "sorted/20*" matches every path in a folder 2021 of a folder sorted.
bool glob_match_inside(std::string_view pattern, std::string_view path);

// Returns the text as one CSV field (RFC 4180), in quotes if it has a comma, a quote or a line break. Text that a
// spreadsheet would take for a formula gets an apostrophe in front. Such text begins with = + - @, a tab or a line
// break, and is not a number.
std::string quote_csv_field(const std::string& text);

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);
// Return the last component of a path, and that component's extension in lower case without its dot.
std::string_view file_name(std::string_view path);
std::string extension(std::string_view path);

}  // namespace millrace
