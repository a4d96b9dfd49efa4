#include "src/jobs/dedupe/match/crop_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "src/jobs/dedupe/match/crop_comparison.h"
#include "src/jobs/dedupe/match/whole_picture_table.h"
#include "src/memory/batch_backoff.h"

namespace millrace::dedupe {
namespace {

// docs/design/crops.md gives the reasons for the constants of this file.

// Key under which the catalog keeps the compared appearances.
std::uint64_t crop_rule_key(TransformKinds wanted) {
  const std::string text = fmt::format("parts {} {} {}", crops::kVersion, wanted.crops, wanted.turned);
  return short_hash({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// Appearances that were compared with one another, and their codes.
struct CropCodeBatch {
  std::vector<std::uint64_t> appearances;
  std::vector<crops::CropCodes> codes;
};

template <class T>
std::span<const std::uint8_t> bytes_of(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(std::span<const std::uint8_t> bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

using Pair = std::pair<std::uint64_t, std::uint64_t>;  // the lower one first

// Compares the pixels of pairs, in batches that fit the budget.
class CropComparator {
 public:
  CropComparator(TransformKinds wanted, Catalog& catalog, RunContext& context)
      : wanted_(wanted), catalog_(catalog), context_(context) {}

  std::vector<CatalogLink> links(const std::vector<Pair>& pairs) {
    std::vector<CatalogLink> out;
    if (pairs.empty()) return out;
    Trace::Stage& stage = context_.trace.stage("compare crops", context_.executor.threads());
    Progress progress(pairs.size() > 1000 ? context_.progress : ProgressStyle::none, "comparing crops", pairs.size());
    constexpr std::uint64_t kEach = 2 * (sizeof(ThumbnailFeatures) + (std::uint64_t{128} * 128 * 3));
    const auto batch =
        static_cast<std::size_t>(std::clamp<std::uint64_t>(context_.budget.largest_grant().count / 4 / kEach, 4, 1024));
    const Reservation reservation = context_.budget.reserve({kEach * std::min(batch, pairs.size())}, "comparing crops");
    std::vector<CropMatch> met;
    for (std::size_t begin = 0; begin < pairs.size(); begin += batch) {
      const std::span some = std::span(pairs).subspan(begin, std::min(batch, pairs.size() - begin));
      load(some, stage);
      met.assign(some.size(), {});
      context_.executor.parallel_for(some.size(), 4, [&](std::size_t from, std::size_t to) {
        const Span span(stage);
        for (std::size_t i = from; i < to; ++i) {
          const auto &first = picture(some[i].first), &second = picture(some[i].second);
          if (first && second) met[i] = compare_crops(*first, *second);
        }
      });
      context_.throw_if_cancelled();
      for (std::size_t i = 0; i < some.size(); ++i) {
        const auto& [kind, score] = met[i].judgement;
        // A recoloured match counts only between whole upright images, not for crops or rotated copies.
        if (kind == similarity::SimilarityKind::same)
          out.push_back({some[i].first, some[i].second, static_cast<std::uint8_t>(kind), score});
      }
      progress.add(some.size());
    }
    return out;
  }

 private:
  // Decodes the pictures of these pairs, each once.
  void load(std::span<const Pair> pairs, Trace::Stage& stage) {
    appearances_.clear();
    for (const auto& [a, b] : pairs) appearances_.insert(appearances_.end(), {a, b});
    std::sort(appearances_.begin(), appearances_.end());
    appearances_.erase(std::unique(appearances_.begin(), appearances_.end()), appearances_.end());
    std::vector<std::vector<std::uint8_t>> jpegs;
    jpegs.reserve(appearances_.size());
    for (const std::uint64_t a : appearances_)
      jpegs.push_back(catalog_.thumbnail(a).value_or(std::vector<std::uint8_t>()));
    pictures_.resize(appearances_.size());
    context_.executor.parallel_for(appearances_.size(), 4, [&](std::size_t from, std::size_t to) {
      const Span span(stage);
      for (std::size_t i = from; i < to; ++i) pictures_[i] = compute_thumbnail_features(jpegs[i], wanted_);
    });
  }
  const std::optional<ThumbnailFeatures>& picture(std::uint64_t thumbnail_digest) const {
    const auto at = std::lower_bound(appearances_.begin(), appearances_.end(), thumbnail_digest);
    return pictures_[static_cast<std::size_t>(at - appearances_.begin())];
  }

  const TransformKinds wanted_;
  Catalog& catalog_;
  RunContext& context_;
  std::vector<std::uint64_t> appearances_;
  std::vector<std::optional<ThumbnailFeatures>> pictures_;
};

std::vector<crops::CropCodes> codes_of(std::span<const std::uint64_t> appearances, TransformKinds wanted,
                                       Catalog& catalog, RunContext& context) {
  constexpr std::size_t kBatch = 4096;
  Trace::Stage& stage = context.trace.stage("hash crops", context.executor.threads());
  Progress progress(appearances.size() > 2 * kBatch ? context.progress : ProgressStyle::none, "hashing crops",
                    appearances.size());
  std::vector<crops::CropCodes> out(appearances.size());
  std::vector<std::vector<std::uint8_t>> jpegs(std::min(kBatch, appearances.size()));
  for (std::size_t begin = 0; begin < appearances.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, appearances.size() - begin);
    for (std::size_t i = 0; i < count; ++i)
      jpegs[i] = catalog.thumbnail(appearances[begin + i]).value_or(std::vector<std::uint8_t>());
    context.executor.parallel_for(count, 16, [&](std::size_t from, std::size_t to) {
      const Span span(stage);
      for (std::size_t i = from; i < to; ++i) out[begin + i] = compute_crop_codes(jpegs[i], wanted);
    });
    context.throw_if_cancelled();
    progress.add(count);
  }
  return out;
}

// Appends the pairs in which a crop of one picture may be the whole of another.
void append_crop_pairs(const CropCodeBatch& with_parts, const WholePictureTable& table,
                       std::span<const std::uint64_t> wholes, const Executor& executor, std::vector<Pair>& out) {
  for (const CropWholePair& pair : table.find_pairs(with_parts.codes, executor)) {
    const std::uint64_t a = with_parts.appearances[pair.part], b = wholes[pair.whole];
    if (a != b) out.emplace_back(std::min(a, b), std::max(a, b));
  }
}

// Memory of a batch and its table, beside the pairs that they yield.
Bytes memory_of(std::size_t rows) {
  return Bytes{rows * (sizeof(crops::CropCodes) + 2 * sizeof(Pair) * 32) + WholePictureTable::memory(rows)};
}

void sort_pairs(std::vector<Pair>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

class CropLinkFinder {
 public:
  CropLinkFinder(std::span<const std::uint64_t> appearances, TransformKinds wanted,
                 const std::function<bool(std::uint64_t)>& left_out, Catalog& catalog, RunContext& context)
      : appearances_(appearances),
        left_out_(left_out),
        wanted_(wanted),
        number_(crop_rule_key(wanted)),
        catalog_(catalog),
        context_(context),
        comparing_(wanted, catalog, context),
        join_(catalog.compared_appearances(number_)),
        kept_(join_.parts.size()) {
    for (const auto& part : join_.parts) {
      if (!part.empty() && part.size() % sizeof(std::uint64_t) == 0) continue;
      // This program did not write such a batch: compare everything, and do not change the catalog.
      join_ = {};
      kept_ = 0;
      keeps_ = false;
      break;
    }
  }

  std::vector<CatalogLink> run() {
    const std::vector<std::uint64_t> fresh = missing();
    constexpr std::uint64_t kMaxBatch = 1 << 17, kMinBatch = 64;
    run_with_backoff(0, fresh.size(), {kMaxBatch, kMinBatch}, [&](std::uint64_t from, std::uint64_t to) {
      join(std::span(fresh).subspan(from, to - from));
      return BatchFit::easy;
    });
    return links_in_library();
  }

 private:
  bool is_in_library(std::uint64_t thumbnail_digest) const {
    return std::binary_search(appearances_.begin(), appearances_.end(), thumbnail_digest) &&
           !left_out_(thumbnail_digest);
  }

  std::vector<std::uint64_t> missing() const {
    std::vector<std::uint64_t> known;
    for (const auto& part : join_.parts) {
      const auto some = values_of<std::uint64_t>(part);
      known.insert(known.end(), some.begin(), some.end());
    }
    std::sort(known.begin(), known.end());
    std::vector<std::uint64_t> out;
    for (const std::uint64_t a : appearances_) {
      if (!std::binary_search(known.begin(), known.end(), a) && !left_out_(a)) out.push_back(a);
    }
    return out;
  }

  // Reads a batch that an earlier run, or this run, compared before. Its codes are computed again where the catalog has
  // none of the right size and checksum.
  CropCodeBatch load_previous_batch(std::size_t at) {
    CropCodeBatch out{values_of<std::uint64_t>(join_.parts[at]), {}};
    if (at < kept_)
      out.codes = values_of<crops::CropCodes>(
          catalog_.compared_codes(number_, at, out.appearances.size() * sizeof(crops::CropCodes)));
    if (out.codes.size() != out.appearances.size()) out.codes = codes_of(out.appearances, wanted_, catalog_, context_);
    return out;
  }

  void join(std::span<const std::uint64_t> fresh) {
    const Reservation reservation = context_.budget.reserve(memory_of(fresh.size()), "crops of pictures");
    const CropCodeBatch part{{fresh.begin(), fresh.end()}, codes_of(fresh, wanted_, catalog_, context_)};
    std::vector<Pair> pairs;
    {
      Trace::Stage& stage = context_.trace.stage("find crops", context_.executor.threads());
      const Span span(stage);
      const WholePictureTable wholes(part.codes, context_.executor);
      append_crop_pairs(part, wholes, part.appearances, context_.executor, pairs);
      for (std::size_t at = 0; at < join_.parts.size(); ++at) {
        const Reservation also =
            context_.budget.reserve(memory_of(join_.parts[at].size() / sizeof(std::uint64_t)), "crops of pictures");
        const CropCodeBatch other = load_previous_batch(at);
        append_crop_pairs(other, wholes, part.appearances, context_.executor, pairs);
        append_crop_pairs(part, WholePictureTable(other.codes, context_.executor), other.appearances, context_.executor,
                          pairs);
        context_.throw_if_cancelled();
      }
    }
    sort_pairs(pairs);
    const std::vector<CatalogLink> links = comparing_.links(pairs);
    const auto appearances = bytes_of(part.appearances);
    if (keeps_) {
      keeps_ = catalog_.put_compared_appearances(number_, kept_, appearances, links, bytes_of(part.codes));
      kept_ += keeps_ ? 1 : 0;
    }
    join_.parts.emplace_back(appearances.begin(), appearances.end());
    join_.links.insert(join_.links.end(), links.begin(), links.end());
  }

  std::vector<CatalogLink> links_in_library() {
    std::vector<CatalogLink> links = std::move(join_.links);
    std::erase_if(links, [&](const CatalogLink& link) { return !is_in_library(link.a) || !is_in_library(link.b); });
    const auto key = [](const CatalogLink& link) { return std::pair(link.a, link.b); };
    std::sort(links.begin(), links.end(), [&](const auto& x, const auto& y) { return key(x) < key(y); });
    const auto twice =
        std::unique(links.begin(), links.end(), [&](const auto& x, const auto& y) { return key(x) == key(y); });
    links.erase(twice, links.end());
    return links;
  }

  const std::span<const std::uint64_t> appearances_;
  const std::function<bool(std::uint64_t)>& left_out_;
  const TransformKinds wanted_;
  const std::uint64_t number_;
  Catalog& catalog_;
  RunContext& context_;
  CropComparator comparing_;
  ComparedAppearances join_;
  std::size_t kept_;   // number of batches in the catalog
  bool keeps_ = true;  // false after another run wrote a batch first
};

}  // namespace

class ShardedCropLinkSearch::Work {
 public:
  Work(std::span<const std::uint64_t> appearances, TransformKinds wanted, Catalog& catalog, RunContext& context)
      : appearances_(appearances),
        wanted_(wanted),
        catalog_(catalog),
        context_(context),
        comparing_(wanted, catalog, context),
        kept_((appearances.size() + kBlockSize - 1) / kBlockSize) {}

  ComparedBatch compare(std::size_t begin, std::size_t end) {
    ComparedBatch out;
    out.rule = crop_rule_key(wanted_);
    const Reservation reservation = reserve(memory_of(end - begin));
    CropCodeBatch part;
    for (std::size_t from = begin, to = 0; from < end; from = to) {
      to = std::min(end, (from / kBlockSize + 1) * kBlockSize);
      const CropCodeBatch& some = load_block(from / kBlockSize);
      const auto at = static_cast<std::ptrdiff_t>(from % kBlockSize), count = static_cast<std::ptrdiff_t>(to - from);
      part.appearances.insert(part.appearances.end(), some.appearances.begin() + at,
                              some.appearances.begin() + at + count);
      part.codes.insert(part.codes.end(), some.codes.begin() + at, some.codes.begin() + at + count);
    }
    std::vector<Pair> pairs;
    find(part, begin, pairs);
    sort_pairs(pairs);
    out.links = comparing_.links(pairs);
    const auto appearances = bytes_of(part.appearances), codes = bytes_of(part.codes);
    out.compared_appearances.assign(appearances.begin(), appearances.end());
    out.codes.assign(codes.begin(), codes.end());
    return out;
  }

 private:
  static constexpr std::size_t kBlockSize = 1 << 16;
  using CachedBlock = std::pair<std::optional<Reservation>, CropCodeBatch>;

  // Reserves memory, and drops the cached blocks if there is no room otherwise.
  Reservation reserve(Bytes bytes) {
    if (context_.budget.largest_grant() < bytes) {
      for (CachedBlock& each : kept_) each = {};
    }
    return context_.budget.reserve(bytes, "crops of pictures");
  }

  // Returns block `number` of kBlockSize appearances with their codes. Caches it while memory allows.
  const CropCodeBatch& load_block(std::size_t number) {
    if (kept_[number].first) return kept_[number].second;
    const auto some =
        appearances_.subspan(number * kBlockSize, std::min(kBlockSize, appearances_.size() - number * kBlockSize));
    CropCodeBatch part{{some.begin(), some.end()}, {}};
    std::optional<Reservation> room;
    const Bytes bytes{some.size() * sizeof(crops::CropCodes)};
    // A third of the limit at most, since other stages need memory too.
    const std::uint64_t most = context_.budget.limit().count / 3;
    const auto kept = static_cast<std::uint64_t>(
        std::count_if(kept_.begin(), kept_.end(), [](const CachedBlock& each) { return each.first.has_value(); }));
    if ((kept + 1) * bytes.count < most && context_.budget.largest_grant() > bytes + memory_of(2 * kBlockSize))
      room = context_.budget.reserve(bytes, "crops of pictures");
    part.codes = codes_of(some, wanted_, catalog_, context_);
    if (!room) return latest_ = std::move(part);
    kept_[number] = {std::move(room), std::move(part)};
    return kept_[number].second;
  }

  // Finds pairs within `part`, and between it and all appearances before it.
  void find(const CropCodeBatch& part, std::size_t begin, std::vector<Pair>& out) {
    Trace::Stage& stage = context_.trace.stage("find crops", context_.executor.threads());
    const Span span(stage);
    const WholePictureTable wholes(part.codes, context_.executor);
    append_crop_pairs(part, wholes, part.appearances, context_.executor, out);
    for (std::size_t from = 0; from < begin; from += kBlockSize) {
      const Reservation also = reserve(memory_of(std::min(kBlockSize, begin - from)));
      CropCodeBatch other = load_block(from / kBlockSize);
      other.appearances.resize(std::min(other.appearances.size(), begin - from));
      other.codes.resize(other.appearances.size());
      append_crop_pairs(other, wholes, part.appearances, context_.executor, out);
      append_crop_pairs(part, WholePictureTable(other.codes, context_.executor), other.appearances, context_.executor,
                        out);
      context_.throw_if_cancelled();
    }
  }

  const std::span<const std::uint64_t> appearances_;
  const TransformKinds wanted_;
  Catalog& catalog_;
  RunContext& context_;
  CropComparator comparing_;
  std::vector<CachedBlock> kept_;
  CropCodeBatch latest_;
};

ShardedCropLinkSearch::ShardedCropLinkSearch(std::span<const std::uint64_t> appearances, TransformKinds wanted,
                                             Catalog& catalog, RunContext& context)
    : work_(std::make_unique<Work>(appearances, wanted, catalog, context)) {}
ShardedCropLinkSearch::~ShardedCropLinkSearch() = default;
ComparedBatch ShardedCropLinkSearch::compare(std::size_t begin, std::size_t end) { return work_->compare(begin, end); }

std::vector<CatalogLink> find_crop_links(std::span<const std::uint64_t> appearances, TransformKinds wanted,
                                         const std::function<bool(std::uint64_t)>& left_out, Catalog& catalog,
                                         RunContext& context) {
  return CropLinkFinder(appearances, wanted, left_out, catalog, context).run();
}

}  // namespace millrace::dedupe
