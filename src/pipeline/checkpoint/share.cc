#include "src/pipeline/checkpoint/share.h"

#include <fmt/format.h>

#include <charconv>

namespace millrace {
namespace {

constexpr std::uint64_t kMostRuns = 1'000'000;

// All of the text, or nothing of it.
bool take_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Share parse_share(const std::string& text) {
  if (text == "all") return {};
  const std::size_t slash = text.find('/');
  std::uint64_t k = 0, n = 0;
  if (slash == std::string::npos || !take_number(std::string_view(text).substr(0, slash), k) ||
      !take_number(std::string_view(text).substr(slash + 1), n) || k < 1 || k > n || n > kMostRuns) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is no part of a whole", text), "--part",
                  "say K/N, for example 1/4 in the first of four runs and 4/4 in the last");
  }
  return {k - 1, n};
}

void describe(Settings& settings, Share& share, const std::string& unit, const std::string& in_the_end) {
  settings.add_parsed(
      "part", "K/N",
      fmt::format("make only every Nth {}, from the Kth on: N runs into one OUTPUT, at once or one by one; {}", unit,
                  in_the_end),
      "all", [&share](const std::string& text) { share = parse_share(text); });
}

}  // namespace millrace
