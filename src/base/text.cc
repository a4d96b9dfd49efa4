#include "src/base/text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace millrace {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Returns the length of the well-formed UTF-8 sequence at `i` (Unicode 15, table 3-7), or 0.
std::size_t utf8_length(std::string_view s, std::size_t i) {
  const unsigned a = byte_at(s, i);
  if (a < 0x80) return 1;
  const auto continues = [&](std::size_t at, unsigned low = 0x80, unsigned high = 0xBF) {
    return at < s.size() && byte_at(s, at) >= low && byte_at(s, at) <= high;
  };
  if (a >= 0xC2 && a <= 0xDF) return continues(i + 1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const unsigned low = a == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = a == 0xED ? 0x9F : 0xBF;
    return continues(i + 1, low, high) && continues(i + 2) ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const unsigned low = a == 0xF0 ? 0x90 : 0x80;
    const unsigned high = a == 0xF4 ? 0x8F : 0xBF;
    return continues(i + 1, low, high) && continues(i + 2) && continues(i + 3) ? 4 : 0;
  }
  return 0;
}

// Matches one bracket class at pattern[p]; on success moves p past it.
bool class_match(std::string_view pattern, std::size_t& p, char wanted) {
  // Characters are compared as bytes: char is signed on some machines and unsigned on others.
  const unsigned c = static_cast<unsigned char>(wanted);
  std::size_t i = p + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  bool found = false;
  bool first = true;
  for (; i < pattern.size() && (pattern[i] != ']' || first); ++i, first = false) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found |= byte_at(pattern, i) <= c && c <= byte_at(pattern, i + 2);
      i += 2;
    } else {
      found |= byte_at(pattern, i) == c;
    }
  }
  if (i >= pattern.size()) return false;  // no closing bracket: matches nothing
  p = i + 1;
  return found != negated && c != '/';
}

bool glob_whole(std::string_view pattern, std::string_view text) {
  // Backtracks to the last star only, as a later star makes the earlier ones irrelevant. The exception: "**" remains a
  // fallback for a "*" that met a slash.
  std::size_t p = 0, t = 0;
  std::size_t star_p = std::string_view::npos, star_t = 0;
  std::size_t deep_p = std::string_view::npos, deep_t = 0;
  while (true) {
    if (p < pattern.size() && pattern[p] == '*') {
      if (p + 1 < pattern.size() && pattern[p + 1] == '*') {
        p += 2;
        if (p < pattern.size() && pattern[p] == '/') {
          // "**/" also matches the empty string.
          if (glob_whole(pattern.substr(p + 1), text.substr(t))) return true;
        }
        deep_p = p;
        deep_t = t;
        star_p = std::string_view::npos;
      } else {
        star_p = ++p;
        star_t = t;
      }
      continue;
    }
    if (t == text.size() && p == pattern.size()) return true;
    bool matched = false;
    if (t < text.size() && p < pattern.size()) {
      if (pattern[p] == '?') {
        matched = text[t] != '/';
        if (matched) ++p;
      } else if (pattern[p] == '[') {
        matched = class_match(pattern, p, text[t]);
      } else {
        matched = pattern[p] == text[t];
        if (matched) ++p;
      }
    }
    if (matched) {
      ++t;
    } else if (star_p != std::string_view::npos && star_t < text.size() && text[star_t] != '/') {
      t = ++star_t;
      p = star_p;
    } else if (deep_p != std::string_view::npos && deep_t < text.size()) {
      t = ++deep_t;
      p = deep_p;
      star_p = std::string_view::npos;
    } else {
      return false;
    }
  }
}

// Returns the code point of a mark that could disguise text, or 0. Such marks change the order of display (Unicode's
// Bidi_Control), end a line (U+2028, U+2029) or are invisible (U+00AD, U+200B). The text must be valid UTF-8.
unsigned order_mark_at(std::string_view text, std::size_t i) {
  const unsigned u = byte_at(text, i);
  if (u == 0xD8 && byte_at(text, i + 1) == 0x9C) return 0x061C;
  if (u == 0xC2 && byte_at(text, i + 1) == 0xAD) return 0x00AD;
  if (u != 0xE2 || (byte_at(text, i + 1) & 0xFE) != 0x80) return 0;
  const unsigned point = 0x2000 | (byte_at(text, i + 1) & 0x3F) << 6 | (byte_at(text, i + 2) & 0x3F);
  const bool turns = point == 0x200B || point == 0x200E || point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
                     (point >= 0x2066 && point <= 0x2069);
  return turns ? point : 0;
}

bool is_formula(const std::string& text) {
  if (text.empty()) return false;
  // Full-width forms of = + - @, which some spreadsheets treat like the plain ones.
  for (const char* wide : {"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"}) {
    if (text.starts_with(wide)) return true;
  }
  if (std::string_view("=+-@\t\r\n").find(text[0]) == std::string_view::npos) return false;
  if (text[0] != '+' && text[0] != '-') return true;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data() + 1, end, number);
  return problem != std::errc() || at != end;
}

}  // namespace

std::string hex_of_bits(std::span<const std::uint8_t> bits) {
  const std::size_t digits = (bits.size() + 3) / 4;
  std::string text(digits, '0');
  // Right-aligned: the last bit is the lowest bit of the last digit.
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t from_end = bits.size() - 1 - i;
    if (bits[i] == 0) continue;
    char& digit = text[digits - 1 - from_end / 4];
    const std::size_t value = kHex.find(digit) | (std::size_t{1} << (from_end % 4));
    digit = kHex[value];
  }
  return text;
}

std::string hex_of_bytes(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t b : bytes) {
    text += kHex[b >> 4];
    text += kHex[b & 15];
  }
  return text;
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const unsigned word =
        byte_at(bytes, i) << 16 | (left > 1 ? byte_at(bytes, i + 1) << 8 : 0) | (left > 2 ? byte_at(bytes, i + 2) : 0);
    out += kBase64[word >> 18];
    out += kBase64[word >> 12 & 63];
    out += left > 1 ? kBase64[word >> 6 & 63] : '=';
    out += left > 2 ? kBase64[word & 63] : '=';
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    unsigned word = 0;
    int padding = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const char c = text[i + k];
      if (c == '=' && i + 4 == text.size() && k >= 2) {
        ++padding;
        word <<= 6;
        continue;
      }
      const std::size_t value = kBase64.find(c);
      if (value == std::string_view::npos || padding > 0) return std::nullopt;
      word = word << 6 | static_cast<unsigned>(value);
    }
    out += static_cast<char>(word >> 16 & 255);
    if (padding < 2) out += static_cast<char>(word >> 8 & 255);
    if (padding < 1) out += static_cast<char>(word & 255);
  }
  return out;
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t n = utf8_length(bytes, i);
    if (n == 0) return false;
    i += n;
  }
  return true;
}

std::string encode_utf8(std::uint32_t code) {
  std::string out;
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return out;
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t n = utf8_length(bytes, i);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out.append(bytes.substr(i, n));
      i += n;
    }
  }
  return out;
}

std::string escape_unprintable(std::string_view bytes) {
  const std::string text = replace_invalid_utf8(bytes);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned u = byte_at(text, i);
    if (u < 0x20 || u == 0x7F) {
      out += fmt::format("\\x{:02x}", u);
    } else if (u == 0xC2 && byte_at(text, i + 1) < 0xA0) {
      // U+0080 to U+009F: terminals take U+009B for the start of a command.
      out += fmt::format("\\x{:02x}", byte_at(text, ++i));
    } else if (const unsigned turns = order_mark_at(text, i); turns != 0) {
      out += fmt::format("\\u{{{:04x}}}", turns);
      i += turns < 0x800 ? 1 : 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool glob_match(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') == std::string_view::npos) return glob_whole(pattern, file_name(path));
  return glob_whole(pattern, path);
}

bool glob_match_inside(std::string_view pattern, std::string_view path) {
  while (pattern.size() > 1 && pattern.back() == '/') pattern.remove_suffix(1);
  const bool anywhere = !pattern.starts_with('/') && pattern.find('/') != std::string_view::npos;
  const std::string rooted = anywhere ? "**/" + std::string(pattern) : std::string(pattern);
  while (true) {
    if (glob_match(rooted, path)) return true;
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string_view::npos || slash == 0) return false;
    path = path.substr(0, slash);
  }
}

std::string quote_csv_field(const std::string& field) {
  // A field of apostrophes followed by a formula gets one more apostrophe, so that two different fields never become
  // equal.
  const std::size_t first = std::min(field.find_first_not_of('\''), field.size());
  std::string text = is_formula(field.substr(first)) ? "'" + field : field;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string extension(std::string_view path) {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.find_last_of('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  return lower_ascii(name.substr(dot + 1));
}

}  // namespace millrace
