#include "src/base/parse_values.h"

#include <fmt/format.h>

#include <charconv>

#include "src/base/error.h"
#include "src/base/text.h"

namespace millrace {
namespace {

template <typename Number>
Number between(std::string_view text, Number lowest, Number highest, const char* kind) {
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !(out >= lowest && out <= highest))
    throw Failure(ErrorCode::usage,
                  fmt::format("'{}' is not a {} from {} to {}", escape_unprintable(text), kind, lowest, highest));
  return out;
}

}  // namespace

double parse_number(std::string_view text, double lowest, double highest) {
  return between(text, lowest, highest, "number");
}

long long parse_whole_number(std::string_view text, long long lowest, long long highest) {
  return between(text, lowest, highest, "whole number");
}

std::optional<std::array<std::uint8_t, 3>> parse_color(std::string_view text) {
  if (text.size() != 7 || text[0] != '#') return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::array<std::uint8_t, 3>{static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8),
                                     static_cast<std::uint8_t>(value)};
}

}  // namespace millrace
