#include "src/jobs/dedupe/stages/compare_stage.h"

#include <algorithm>
#include <cmath>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/match/appearance_links.h"
#include "src/jobs/dedupe/match/crop_links.h"
#include "src/jobs/dedupe/stages/compared_lines.h"
#include "src/jobs/dedupe/stages/store_shards.h"

namespace millrace::dedupe {
namespace {

// Default number of pictures per shard, and the largest default number of shards. With fewer pictures per shard, the
// tables that find candidates are built more often than pairs are compared.
constexpr std::uint64_t kDefaultShardSize = 16384, kMaxShards = 256;

// Appearances of a library, and the pictures that have their codes.
struct Appearances {
  explicit Appearances(const Library& library) : pictures(library.pictures) {
    for (std::uint32_t p = 0; p < pictures.size(); ++p) {
      if (!pictures[p].files.empty()) rows.emplace_back(pictures[p].data.thumbnail_digest, p);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
               rows.end());
    for (const auto& row : rows) sorted.push_back(row.first);
  }

  const std::vector<LibraryPicture>& pictures;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> rows;
  std::vector<std::uint64_t> sorted;
};

std::uint64_t shards_of(std::uint64_t rows, const DedupeOptions& options) {
  const auto requested = static_cast<std::uint64_t>(options.shard);
  const std::uint64_t out =
      requested > 0 ? (rows + requested - 1) / requested : std::min(kMaxShards, rows / kDefaultShardSize);
  return std::max<std::uint64_t>(out, 1);
}

CheckpointSpec checkpoint_of(const Appearances& all, const DedupeOptions& options, const MatchRule& rule) {
  CheckpointSpec out;
  out.output = options.output;
  out.dataset.unit = "shards";
  out.dataset.rows = shards_of(all.sorted.size(), options);
  out.dataset.arrays = {{.name = "compared", .rows = ArraySpec::Rows::texts, .type = kUint8, .extension = "jsonl"}};
  const std::string_view bytes(reinterpret_cast<const char*>(all.sorted.data()),
                               all.sorted.size() * sizeof(std::uint64_t));
  out.dataset.attributes = {{kCompareMark, "1"},
                            {"pictures", catalog_key().pictures},
                            {"verdicts", catalog_key().verdicts},
                            {"match", rule.text},
                            {"parts", options.crops ? "true" : "false"},
                            {"orientations", options.orientations ? "true" : "false"},
                            {"inputs", Json::array({{{"shards", out.dataset.rows},
                                                     {"pictures", all.sorted.size()},
                                                     {"identity", hex_of_bytes(content_hash(bytes))}}})
                                           .dump()}};
  out.mark = kCompareMark;
  out.share = options.share;
  return out;
}

}  // namespace

std::uint64_t first_row_of(std::uint64_t shard, std::uint64_t shards, std::uint64_t rows) {
  if (shard >= shards) return rows;
  const double part = std::sqrt(static_cast<double>(shard) / static_cast<double>(shards));
  return std::min(rows, static_cast<std::uint64_t>(static_cast<double>(rows) * part));
}

CompareStageResult make_compare_shards(const DedupeOptions& options, Catalog& catalog, RunContext& context) {
  const Library library = load_library(options, catalog, context);
  const MatchRule rule = parse_rule(options.match, options.verify, library.pictures.size());
  if (library.decoded > 0) spdlog::info("{} pictures were not in the catalog and were read", library.decoded);
  const Appearances all(library);
  const CheckpointSpec spec = checkpoint_of(all, options, rule);
  CompareStageResult out;
  out.pictures = all.sorted.size();
  context.executor.run([&] {
    ThumbnailComparator thumbnail_comparator(catalog, context);
    const CodeLookup codes_of = [&](std::size_t row) { return all.pictures[all.rows[row].second].data.codes; };
    ShardedLinkSearch wholes(all.sorted, codes_of, rule, thumbnail_comparator, context);
    std::optional<ShardedCropLinkSearch> parts;
    if (options.crops || options.orientations)
      parts.emplace(wholes.outside_dense_groups(), TransformKinds{options.crops, options.orientations}, catalog,
                    context);
    const std::uint64_t shards = spec.dataset.rows;
    out.stored = store_shards(
        spec,
        [&](std::uint64_t shard) {
          const std::uint64_t begin = first_row_of(shard, shards, wholes.rows()),
                              end = first_row_of(shard + 1, shards, wholes.rows());
          std::string lines;
          const auto add = [&](const ComparedBatch& part) {
            out.links += part.links.size();
            lines += format_lines(part);
          };
          if (begin < end) add(wholes.compare(begin, end));
          const std::uint64_t last = std::min<std::uint64_t>(end, wholes.outside_dense_groups().size());
          if (parts && begin < last) add(parts->compare(begin, last));
          return lines + format_shard_end(shard, lines);
        },
        context);
  });
  catalog.flush();
  return out;
}

}  // namespace millrace::dedupe
