#include "src/pipeline/checkpoint/shard_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <set>
#include <string_view>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::uint64_t kMaxRuns = 1'000'000;

// Parses all of the text as a number; false if it is anything else.
bool take_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

// Returns which task of an array of N Slurm has started.
std::uint64_t number_in_array(std::uint64_t n) {
  constexpr const char* kVariable = "SLURM_ARRAY_TASK_ID";
  const std::string submit = fmt::format("submit it with sbatch --array=1-{}", n);
  const char* const text = std::getenv(kVariable);
  if (text == nullptr) throw Failure(ErrorCode::usage, fmt::format("{} is not set", kVariable), "--part", submit);
  std::uint64_t k = 0;
  if (!take_number(text, k) || k < 1 || k > n) {
    throw Failure(ErrorCode::usage, fmt::format("{} is '{}'; expected 1 to {}", kVariable, text, n), "--part", submit);
  }
  return k;
}

}  // namespace

ShardSpec parse_shard_spec(const std::string& text) {
  if (text == "all") return {};
  const std::size_t slash = text.find('/');
  const std::string_view which = std::string_view(text).substr(0, slash);
  std::uint64_t k = 0, n = 0;
  const bool slurm = which == "slurm";
  if (slash == std::string::npos || !take_number(std::string_view(text).substr(slash + 1), n) || n < 1 ||
      n > kMaxRuns || (!slurm && (!take_number(which, k) || k < 1 || k > n))) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not K/N, slurm/N or all", text), "--part",
                  "for example 1/4 in the first of four runs, 4/4 in the last, or slurm/4 in an array job of four");
  }
  if (slurm) k = number_in_array(n);
  return {k - 1, n};
}

std::string format_slurm_array(std::span<const std::uint64_t> parts, std::uint64_t of) {
  std::set<std::uint64_t> runs;
  for (const std::uint64_t part : parts) runs.insert(part % of + 1);
  std::string out;
  for (auto at = runs.begin(); at != runs.end();) {
    const std::uint64_t first = *at;
    std::uint64_t last = first;
    while (++at != runs.end() && *at == last + 1) ++last;
    if (!out.empty()) out += ',';
    out += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  }
  return out;
}

std::string describe_missing_shards(const ShardSpec& share, std::span<const std::uint64_t> missing, std::uint64_t parts,
                                    const std::string& output) {
  if (missing.empty()) return "another run is still active: the last one merges the shards";
  const std::string runs =
      share ? fmt::format(" (runs {} of {})", format_slurm_array(missing, share.of), share.of) : "";
  return fmt::format(
      "{} of {} shards are missing{}: the run that makes the last one merges all, or run millrace finish {}",
      group_digits(missing.size()), group_digits(parts), runs, output);
}

void describe(Settings& settings, ShardSpec& share, const std::string& unit, const std::string& in_the_end) {
  settings.add_parsed(
      "part", "K/N",
      fmt::format("make only every Nth {} from the Kth on, or slurm/N in an array job; {}", unit, in_the_end), "all",
      [&share](const std::string& text) { share = parse_shard_spec(text); });
}

}  // namespace millrace
