#include "src/jobs/dedupe/stages/check_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/group/grouping.h"
#include "src/jobs/dedupe/stages/stage_records.h"
#include "src/jobs/dedupe/stages/store_shards.h"

namespace millrace::dedupe {
namespace {

// Forwards to another comparator, and records the pairs.
class RecordingComparator : public PairComparator {
 public:
  explicit RecordingComparator(PairComparator& comparator) : comparator_(comparator) {}

  void check(std::span<const PicturePair> pairs) override {
    for (const auto& [a, b] : pairs) {
      if (a != b) pairs_.emplace(std::min(a, b), std::max(a, b));
    }
    comparator_.check(pairs);
  }
  const Comparison* find(std::uint32_t a, std::uint32_t b) const override { return comparator_.find(a, b); }
  std::uint64_t compared_pairs() const override { return comparator_.compared_pairs(); }
  // Pairs, the lower index first.
  const std::set<PicturePair>& pairs() const { return pairs_; }

 private:
  PairComparator& comparator_;
  std::set<PicturePair> pairs_;
};

// Returns the options that determine which pairs are checked.
std::string choices_text(const DedupeOptions& options, const MatchRule& rule) {
  return fmt::format("match {}, group {}, parts {}, orientations {}, bursts {}, pairs {}, keep {}, prefer [{}]",
                     rule.text, choice_name(options.group), options.crops, options.orientations,
                     choice_name(options.bursts), choice_name(options.pairs), options.keep,
                     fmt::join(options.prefer, ", "));
}

CheckpointSpec checkpoint_of(const CheckSets& sets, const DedupeOptions& options, const MatchRule& rule) {
  CheckpointSpec out;
  out.output = options.output;
  const std::uint64_t each = compute_shard_size(options);
  out.dataset.unit = "shards";
  // At least one shard, also without sets, so that an import finds the output.
  out.dataset.rows = std::max<std::uint64_t>(1, (sets.count() + each - 1) / each);
  out.dataset.arrays = {{.name = "looks", .rows = ArraySpec::Rows::texts, .type = kUint8, .extension = "jsonl"}};
  out.dataset.attributes = {
      {kCheckMark, "1"},
      {"pictures", catalog_key().pictures},
      {"options", choices_text(options, rule)},
      {"sets-of-a-shard", std::to_string(each)},
      {"inputs", Json::array({{{"sets", sets.count()}, {"identity", hex_of_bytes(sets.identity())}}}).dump()}};
  out.mark = kCheckMark;
  out.share = options.share;
  return out;
}

}  // namespace

CheckStageResult make_check_shards(const DedupeOptions& options, Catalog& catalog, RunContext& context) {
  SearchResult found;
  found.library = load_library(options, catalog, context);
  found.rule = parse_rule(options.match, options.verify, found.library.pictures.size());
  if (found.library.decoded > 0)
    spdlog::info("{} pictures were not in the catalog and were read", found.library.decoded);
  FilePairComparator comparator(options, found.library, catalog, context);
  CheckStageResult out;
  context.executor.run([&] {
    const auto sets = find_check_sets(options, found, catalog, context);
    out.sets = sets->count();
    const CheckpointSpec spec = checkpoint_of(*sets, options, found.rule);
    const auto each = static_cast<std::size_t>(compute_shard_size(options));
    out.stored = store_shards(
        spec,
        [&](std::uint64_t shard) {
          RecordingComparator watched(comparator);
          const std::size_t begin = std::min(sets->count(), static_cast<std::size_t>(shard) * each);
          sets->check(begin, std::min(sets->count(), begin + each), watched);
          context.throw_if_cancelled();
          std::string lines;
          for (const auto& [a, b] : watched.pairs()) {
            const Comparison* comparison = comparator.find(a, b);
            if (comparison == nullptr || !comparison->seen) {
              ++out.undecodable_pairs;
              continue;
            }
            const auto& pictures = found.library.pictures;
            lines += format_line(encode_for_catalog(pictures[a].data.content, pictures[b].data.content, *comparison));
          }
          return lines;
        },
        context);
  });
  catalog.flush();
  out.compared_pairs = comparator.compared_pairs();
  return out;
}

}  // namespace millrace::dedupe
