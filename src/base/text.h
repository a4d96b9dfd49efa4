// Input: byte strings, most of them paths, which on Linux are bytes and need not be UTF-8.
// Output: hex, base64, patterns matched, and text that is safe to print or to put into JSON.
// Never: changes a path that is going to be opened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Lower-case hexadecimal of the bits, most significant first, right-aligned in ceil(bits / 4) digits.
std::string hex_of_bits(std::span<const std::uint8_t> bits);
std::string hex_of_bytes(std::span<const std::uint8_t> bytes);

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

bool is_utf8(std::string_view bytes);
// Of one character by its number; empty where there is none of it.
std::string utf8_of(std::uint32_t code);
// The same text with every byte that is not UTF-8 replaced by U+FFFD.
std::string utf8_for_display(std::string_view bytes);
// utf8_for_display, with control characters and those that turn the order of text escaped, so that a file name can
// neither drive a terminal nor look like another one.
std::string printable(std::string_view bytes);

// A shell pattern against a whole path: * and ? stop at '/', ** crosses it, [a-z] is a class. A pattern
// without '/' is tried on the last component alone.
bool glob_match(std::string_view pattern, std::string_view path);
// Whether an absolute path, or a folder that it lies in, matches. A pattern that does not begin with '/' may begin at
// any folder: "sorted/20*" is what lies in a folder 2021 of a folder sorted.
bool glob_match_inside(std::string_view pattern, std::string_view path);

// The text as one field of CSV (RFC 4180): quoted where it holds a comma, a quote or a line break; behind an apostrophe
// where a spreadsheet would take it for a formula, so one that begins with = + - @ or a tab and is no number.
std::string csv_field(const std::string& text);

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);
// The last component of a path, and that component's extension in lower case without its dot.
std::string_view file_name(std::string_view path);
std::string extension(std::string_view path);

}  // namespace millrace
