// Benchmark of `dedupe` on synthetic pictures (synthetic_pictures_for_bench.h) in any number, since no real collection
// can be shipped.
//   distances CATALOG N     distances of hashes of unrelated pictures, in a real folder's catalog and synthetic
//   candidates N            time to find the pairs that `auto` proposes among N pictures' codes, and those by crops
//   rules N RULE...         for each rule, candidates per picture, and the versions of originals that it proposes
//   crowds N                members of dense groups, and versions of originals that are therefore not compared
//   recall N ROWS           loss of `auto` against comparing the pixels of ROWS of N pictures with all of them
//   catalog FILE FOLDER N   writes a catalog as a finished run leaves it, and the files that it names, without contents
// Lower bound of `candidates`: each code is read once, and each pair written once; the rest is the search.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/match/appearance_links.h"
#include "src/jobs/dedupe/match/dense_groups.h"
#include "src/jobs/dedupe/match/packed_codes.h"
#include "src/jobs/dedupe/match/whole_picture_table.h"
#include "src/jobs/dedupe/recall_for_bench.h"
#include "src/jobs/dedupe/scan/picture_reader.h"
#include "src/jobs/dedupe/synthetic_pictures_for_bench.h"
#include "src/kernels/hash_quality/hash_quality.h"

using namespace millrace;
using namespace millrace::dedupe;

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

ContentHash content_of(std::uint64_t number) {
  synthetic::Random random(number ^ 0xF11E);
  ContentHash content;
  for (std::uint8_t& byte : content) byte = static_cast<std::uint8_t>(random.next());
  return content;
}

std::vector<ThumbnailCodes> codes_of(std::size_t count, bool versions, const Executor& executor) {
  std::vector<ThumbnailCodes> codes(count);
  executor.parallel_for(count, 64, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      codes[i] =
          compute_thumbnail_codes(synthetic::pixels_of(versions ? synthetic::picture(i) : synthetic::draw(i)).data());
  });
  return codes;
}

struct Distances {
  std::array<double, 65> share{};
  double mean = 0, deviation = 0;
};

Distances distances_of(const std::vector<ThumbnailCodes>& codes, std::size_t slot) {
  std::array<std::uint64_t, 65> count{};
  for (std::size_t i = 0; i < codes.size(); ++i) {
    for (std::size_t j = i + 1; j < codes.size(); ++j)
      ++count[static_cast<std::size_t>(std::popcount(codes[i][slot] ^ codes[j][slot]))];
  }
  Distances out;
  const double all = static_cast<double>(codes.size()) * static_cast<double>(codes.size() - 1) / 2;
  double squares = 0;
  for (std::size_t d = 0; d < count.size(); ++d) {
    out.share[d] = static_cast<double>(count[d]) / all;
    out.mean += static_cast<double>(d) * out.share[d];
    squares += static_cast<double>(d * d) * out.share[d];
  }
  out.deviation = std::sqrt(squares - out.mean * out.mean);
  return out;
}

// Returns the codes of a real folder's pictures that the rule and the verifier find unrelated: those whose hashes hold
// enough information, without versions of one another.
std::vector<ThumbnailCodes> unrelated(const std::string& path, RunContext& context) {
  Catalog catalog(path, catalog_key());
  std::map<std::uint64_t, ThumbnailCodes> codes_of;
  catalog.for_each_picture(std::nullopt, [&](const CatalogPicture& p) {
    if (!p.failed && p.quality > kQualityGate) codes_of.emplace(p.thumbnail_digest, p.codes);
  });
  std::vector<std::uint64_t> appearances;
  appearances.reserve(codes_of.size());
  for (const auto& thumbnail_digest : codes_of) appearances.push_back(thumbnail_digest.first);
  ThumbnailComparator thumbnail_comparator(catalog, context);
  const AppearanceLinks found = find_links(
      appearances, [&](std::size_t i) { return codes_of.at(appearances[i]); }, parse_rule("auto", true), catalog,
      thumbnail_comparator, context);
  std::set<std::uint64_t> versions;
  for (const CatalogLink& link : found.links) versions.insert(link.b);
  std::vector<ThumbnailCodes> codes;
  for (const std::uint64_t thumbnail_digest : appearances) {
    if (versions.count(thumbnail_digest) == 0) codes.push_back(codes_of.at(thumbnail_digest));
  }
  return codes;
}

std::uint64_t pairs_of(const std::vector<ThumbnailCodes>& codes, const MatchRule& rule, RunContext& context,
                       bool show) {
  CandidateIndex index(rule, context);
  for (std::size_t i = 0; i < codes.size(); ++i) index.add(i, codes[i]);
  std::uint64_t pairs = 0;
  const auto start = Clock::now();
  index.for_each_batch(0, [&](std::uint32_t, std::uint32_t end, const CandidatePairs& found) {
    pairs += found.pairs.size();
    if (show && end % (1 << 15) == 0) fmt::print("  to {:>9}: {:7.2f} s, {:>11} pairs\n", end, since(start), pairs);
    std::fflush(stdout);
  });
  return pairs;
}

// Prints the measurements from which the table of permissive_rule() was chosen.
void rules(std::size_t count, std::span<const std::string> texts, RunContext& context) {
  const auto codes = codes_of(count, true, context.executor);
  fmt::print(
      "| rule | pairs | share of all | a picture | versions of originals proposed | seconds "
      "|\n|---|---|---|---|---|---|\n");
  for (const std::string& text : texts) {
    MatchRule rule = parse_rule(text, true);
    rule.middle = true;
    std::uint64_t versions = 0, proposed = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto original = synthetic::original_of(i);
      if (!original) continue;
      ++versions;
      proposed += holds(rule, codes[i], codes[*original]) ? 1 : 0;
    }
    const auto start = Clock::now();
    const auto pairs = static_cast<double>(pairs_of(codes, rule, context, false));
    const auto n = static_cast<double>(count);
    fmt::print("| {} | {:.0f} | {:.2e} | {:.2f} | {} of {} | {:.1f} |\n", text, pairs, pairs / (n * (n - 1) / 2),
               2 * pairs / n, proposed, versions, since(start));
    std::fflush(stdout);
  }
}

void distances(const std::string& path, std::size_t count, RunContext& context) {
  const auto real = unrelated(path, context), made = codes_of(count, false, context.executor);
  fmt::print("share of pairs that differ in at most so many bits; {} real pictures, {} made up\n", real.size(),
             made.size());
  fmt::print("| bits | dhash, real | made up | phash, real | made up |\n|---|---|---|---|---|\n");
  std::array<Distances, 4> all = {
      distances_of(real, slot_of(HashKind::dhash)), distances_of(made, slot_of(HashKind::dhash)),
      distances_of(real, slot_of(HashKind::phash)), distances_of(made, slot_of(HashKind::phash))};
  std::array<double, 4> sum{};
  for (std::size_t at = 0; at <= 64; ++at) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += all[k].share[at];
    if (at % 4 == 0 && at <= 48)
      fmt::print("| {} | {:.1e} | {:.1e} | {:.1e} | {:.1e} |\n", at, sum[0], sum[1], sum[2], sum[3]);
  }
  fmt::print("| mean | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", all[0].mean, all[1].mean, all[2].mean, all[3].mean);
  const auto rate = [&](const std::vector<ThumbnailCodes>& codes) {
    return static_cast<double>(pairs_of(codes, parse_rule("auto", true), context, false)) /
           (0.5 * static_cast<double>(codes.size()) * static_cast<double>(codes.size()));
  };
  fmt::print("pairs that `auto` proposes: {:.1e} of the real ones, {:.1e} of those made up\n", rate(real), rate(made));
}

void candidates_by_parts(std::size_t count, RunContext& context) {
  std::vector<crops::CropCodes> codes(count);
  auto start = Clock::now();
  std::atomic<std::int64_t> drawing = 0;
  context.executor.parallel_for(count, 64, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const auto before = Clock::now();
      const similarity::Thumbnail pixels = synthetic::pixels_of(synthetic::picture(i));
      drawing += (Clock::now() - before).count();
      // Three in four are landscape, one in four is portrait.
      codes[i] = crops::codes_of(pixels, i % 4 == 0 ? 96 : 128, i % 4 == 0 ? 128 : 96, {});
    }
  });
  const double coding = since(start) - static_cast<double>(drawing) * 1e-9 / context.executor.threads();
  start = Clock::now();
  std::uint64_t pairs = 0;
  constexpr std::size_t kPart = 1 << 17;
  for (std::size_t w = 0; w < count; w += kPart) {
    const WholePictureTable wholes(std::span<const crops::CropCodes>(codes).subspan(w, std::min(kPart, count - w)),
                                   context.executor);
    for (std::size_t p = 0; p < count; p += kPart) {
      for (const CropWholePair& pair : wholes.find_pairs(
               std::span<const crops::CropCodes>(codes).subspan(p, std::min(kPart, count - p)), context.executor))
        pairs += pair.part + p != pair.whole + w ? 1 : 0;
    }
  }
  fmt::print("by parts: codes {:.2f} s, {:.2f} s, {} candidates, {:.1f} a picture\n", coding, since(start), pairs,
             2.0 * static_cast<double>(pairs) / static_cast<double>(count));
}

void candidates(std::size_t count, RunContext& context) {
  const auto codes = codes_of(count, true, context.executor);
  const auto start = Clock::now();
  const std::uint64_t pairs = pairs_of(codes, parse_rule("auto", true), context, true);
  fmt::print("{} pictures: {:.2f} s, {} candidates, {:.1f} a picture, peak {}\n", count, since(start), pairs,
             2.0 * static_cast<double>(pairs) / static_cast<double>(count), format_bytes(resident_memory().peak));
  candidates_by_parts(count, context);
}

void dense_groups(std::size_t count, RunContext& context) {
  const auto codes = codes_of(count, true, context.executor);
  std::vector<std::uint64_t> appearances(count);
  std::iota(appearances.begin(), appearances.end(), 0);
  CodeColumns columns;
  for (const ThumbnailCodes& c : codes) columns.add(c);
  const MatchRule rule = parse_rule("auto", true);
  const auto start = Clock::now();
  const DenseGroups found = find_dense_groups(appearances, columns, rule, context);
  fmt::print("{} pictures: {:.2f} s, {} in crowds\n", count, since(start), found.members().size());
  std::uint64_t proposed = 0, left_out = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto original = synthetic::original_of(i);
    if (!original || !holds(rule, codes[i], codes[*original])) continue;
    ++proposed;
    const bool are_compared = DenseGroups::are_compared(i, found.levels_of(i), codes[i], *original,
                                                        found.levels_of(*original), codes[*original]);
    left_out += are_compared ? 0 : 1;
  }
  fmt::print("versions that are proposed with their originals: {}; not compared for a crowd: {}\n", proposed, left_out);
}

// Writes a catalog in which a twentieth of the files are copies of the one before. Cameras and times are like
// photographers', some in bursts.
void write_catalog(const std::string& file, const std::string& folder, std::size_t count, RunContext& context) {
  Catalog catalog(file, catalog_key());
  constexpr std::size_t kBatch = 8192;
  std::vector<CatalogPicture> pictures(kBatch);
  std::vector<std::vector<std::uint8_t>> jpegs(kBatch);
  for (std::size_t begin = 0; begin < count; begin += kBatch) {
    const std::size_t size = std::min(kBatch, count - begin);
    context.executor.parallel_for(size, 16, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const std::uint64_t number = begin + i;
        const similarity::Thumbnail pixels = synthetic::pixels_of(synthetic::picture(number));
        CatalogPicture p;
        p.content = content_of(number);
        p.format = static_cast<int>(ImageFormat::jpeg);
        p.width = 4000;
        p.height = 3000;
        p.quality = 90;
        p.codes = compute_thumbnail_codes(pixels.data());
        const std::uint64_t second = number * 300 + p.content[0];
        p.taken =
            fmt::format("20{:02}:{:02}:{:02} {:02}:{:02}:{:02}", 10 + second / 32140800, 1 + second / 2678400 % 12,
                        1 + second / 86400 % 28, second / 3600 % 24, second / 60 % 60, second % 60);
        p.camera = fmt::format("Maker Model {}", number / 5000 % 7);
        p.exif_fields = 40;
        jpegs[i] = encode_thumbnail({synthetic::kSide, synthetic::kSide, {pixels.begin(), pixels.end()}}, 4096);
        p.thumbnail_digest = compute_thumbnail_digest(jpegs[i], p.codes);
        pictures[i] = std::move(p);
      }
    });
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t number = begin + i;
      synthetic::Random random(number ^ 0xC0F1);
      const bool copy = i > 0 && random.chance(0.05F);
      const std::string folder_of_file = fmt::format("{}/{:03}", folder, number / 1000);
      if (number % 1000 == 0) make_private_folders(folder_of_file);
      const std::string path = fmt::format("{}/IMG_{:07}.jpg", folder_of_file, number);
      const std::uint64_t bytes = 2'000'000 + (copy ? number - 1 : number) * 7;
      const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
      struct stat info {};
      if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0 || ::fstat(fd, &info) != 0) {
        fmt::print(stderr, "{} cannot be made\n", path);
        std::exit(1);
      }
      ::close(fd);
      catalog.put(CatalogFile{path,
                              bytes,
                              info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
                              false,
                              {},
                              "",
                              pictures[copy ? i - 1 : i].content});
      if (!copy) catalog.put(pictures[i], jpegs[i]);
    }
    catalog.flush();
  }
}

// Marks the appearances of a catalog from write_catalog() as compared with one another, and links versions to originals
// whose pixels match. A finished run keeps the same, except for a few unrelated pictures that it would take for
// versions.
void write_joined(const std::string& file, std::size_t count, RunContext& context) {
  Catalog catalog(file, catalog_key());
  std::vector<std::pair<ContentHash, std::uint64_t>> appearance_of_content;
  std::vector<std::pair<std::uint64_t, ThumbnailCodes>> appearances;
  catalog.for_each_picture(std::nullopt, [&](const CatalogPicture& p) {
    appearance_of_content.emplace_back(p.content, p.thumbnail_digest);
    appearances.emplace_back(p.thumbnail_digest, p.codes);
  });
  std::sort(appearances.begin(), appearances.end());
  appearances.erase(std::unique(appearances.begin(), appearances.end()), appearances.end());
  std::vector<AppearancePair> pairs;
  for (std::uint64_t number = 0; number < count; ++number) {
    const auto original = synthetic::original_of(number);
    if (!original) continue;
    const auto thumbnail_digest = [&](std::uint64_t n) -> std::uint64_t {
      const auto at = std::lower_bound(appearance_of_content.begin(), appearance_of_content.end(),
                                       std::pair(content_of(n), std::uint64_t{0}));
      return at != appearance_of_content.end() && at->first == content_of(n) ? at->second : 0;
    };
    const std::uint64_t a = thumbnail_digest(number), b = thumbnail_digest(*original);
    if (a != 0 && b != 0 && a != b) pairs.push_back({std::min(a, b), std::max(a, b)});
  }
  ThumbnailComparator thumbnail_comparator(catalog, context);
  const std::vector<Judgement> judged = thumbnail_comparator.compare(pairs);
  std::vector<CatalogLink> links;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (judged[i].kind != similarity::SimilarityKind::different)
      links.push_back({pairs[i].a, pairs[i].b, static_cast<std::uint8_t>(judged[i].kind), judged[i].score});
  }
  const std::uint64_t rule = catalog_rule_key(parse_rule("auto", true));
  constexpr std::size_t kPart = 1 << 17;
  for (std::size_t begin = 0; begin < appearances.size(); begin += kPart) {
    std::vector<std::uint8_t> part;
    for (std::size_t i = begin; i < std::min(begin + kPart, appearances.size()); ++i)
      append_packed_codes(part, {appearances[i].first, appearances[i].second});
    catalog.put_compared_appearances(rule, begin / kPart, part,
                                     begin == 0 ? std::span<const CatalogLink>(links) : std::span<const CatalogLink>());
  }
  fmt::print("{} appearances, {} versions, {} links\n", appearances.size(), pairs.size(), links.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Executor executor(2);
  const CancelToken cancel;
  Trace trace;
  Budget budget(8_GiB);
  RunContext context{executor, cancel, trace, budget};
  const auto number = [&](std::size_t at) { return std::strtoul(arguments[at].c_str(), nullptr, 10); };
  if (arguments.size() == 3 && arguments[0] == "distances") {
    distances(arguments[1], number(2), context);
  } else if (arguments.size() == 2 && arguments[0] == "candidates") {
    candidates(number(1), context);
  } else if (arguments.size() > 2 && arguments[0] == "rules") {
    rules(number(1), std::span(arguments).subspan(2), context);
  } else if (arguments.size() == 2 && arguments[0] == "crowds") {
    dense_groups(number(1), context);
  } else if (arguments.size() == 3 && arguments[0] == "recall") {
    recall::report(number(1), number(2), context);
  } else if (arguments.size() == 4 && arguments[0] == "catalog") {
    write_catalog(arguments[1], arguments[2], number(3), context);
    write_joined(arguments[1], number(3), context);
  } else if (arguments.size() == 3 && arguments[0] == "joined") {
    write_joined(arguments[1], number(2), context);
  } else {
    fmt::print(stderr, "see the beginning of dedupe_scale_bench.cc\n");
    return 2;
  }
  return 0;
}
