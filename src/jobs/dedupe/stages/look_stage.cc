#include "src/jobs/dedupe/stages/look_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/group/grouping.h"
#include "src/jobs/dedupe/stages/records.h"
#include "src/jobs/dedupe/stages/shards.h"

namespace millrace::dedupe {
namespace {

// Forwards to another Looks, and records the pairs.
class WatchedLooks : public Looks {
 public:
  explicit WatchedLooks(Looks& looks) : looks_(looks) {}

  void look(std::span<const PicturePair> pairs) override {
    for (const auto& [a, b] : pairs) {
      if (a != b) pairs_.emplace(std::min(a, b), std::max(a, b));
    }
    looks_.look(pairs);
  }
  const CloseLook* find(std::uint32_t a, std::uint32_t b) const override { return looks_.find(a, b); }
  std::uint64_t looked_at() const override { return looks_.looked_at(); }
  // Pairs, the lower index first.
  const std::set<PicturePair>& pairs() const { return pairs_; }

 private:
  Looks& looks_;
  std::set<PicturePair> pairs_;
};

// Returns the options that determine which pairs are checked.
std::string choices_text(const Options& options, const Rule& rule) {
  return fmt::format("match {}, group {}, parts {}, orientations {}, bursts {}, pairs {}, keep {}, prefer [{}]",
                     rule.text, choice_name(options.group), options.parts, options.orientations,
                     choice_name(options.bursts), choice_name(options.pairs), options.keep,
                     fmt::join(options.prefer, ", "));
}

CheckpointSpec checkpoint_of(const LookSets& sets, const Options& options, const Rule& rule) {
  CheckpointSpec out;
  out.output = options.output;
  const std::uint64_t each = pictures_of_shard(options);
  out.dataset.unit = "shards";
  // At least one shard, also without sets, so that an import finds the output.
  out.dataset.rows = std::max<std::uint64_t>(1, (sets.count() + each - 1) / each);
  out.dataset.arrays = {{.name = "looks", .rows = ArraySpec::Rows::texts, .type = kUint8, .extension = "jsonl"}};
  out.dataset.attributes = {
      {kLookMark, "1"},
      {"pictures", catalog_key().pictures},
      {"options", choices_text(options, rule)},
      {"sets-of-a-shard", std::to_string(each)},
      {"inputs", Json::array({{{"sets", sets.count()}, {"identity", hex_of_bytes(sets.identity())}}}).dump()}};
  out.mark = kLookMark;
  out.share = options.share;
  return out;
}

}  // namespace

LookStage look_stage(const Options& options, Catalog& catalog, RunContext& context) {
  SearchResult found;
  found.library = known_library(options, catalog, context);
  found.rule = parse_rule(options.match, options.verify, found.library.pictures.size());
  if (found.library.decoded > 0) spdlog::info("{} pictures were not known and were read", found.library.decoded);
  CloseLooks looks(options, found.library, catalog, context);
  LookStage out;
  context.executor.run([&] {
    const auto sets = find_look_sets(options, found, catalog, context);
    out.sets = sets->count();
    const CheckpointSpec spec = checkpoint_of(*sets, options, found.rule);
    const auto each = static_cast<std::size_t>(pictures_of_shard(options));
    out.stored = store_shards(
        spec,
        [&](std::uint64_t shard) {
          WatchedLooks watched(looks);
          const std::size_t begin = std::min(sets->count(), static_cast<std::size_t>(shard) * each);
          sets->look(begin, std::min(sets->count(), begin + each), watched);
          context.throw_if_cancelled();
          std::string lines;
          for (const auto& [a, b] : watched.pairs()) {
            const CloseLook* look = looks.find(a, b);
            if (look == nullptr || !look->seen) {
              ++out.unseen;
              continue;
            }
            const auto& pictures = found.library.pictures;
            lines += line_of(kept_of(pictures[a].data.content, pictures[b].data.content, *look));
          }
          return lines;
        },
        context);
  });
  catalog.flush();
  out.looked_at = looks.looked_at();
  return out;
}

}  // namespace millrace::dedupe
