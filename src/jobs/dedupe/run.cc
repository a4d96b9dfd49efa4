#include "src/jobs/dedupe/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/base/text.h"
#include "src/io/image/picture.h"
#include "src/jobs/dedupe/group/grouping.h"
#include "src/jobs/dedupe/scan/albums.h"
#include "src/jobs/dedupe/scan/assets.h"
#include "src/jobs/dedupe/scan/picture_reader.h"
#include "src/jobs/dedupe/stages/import_stages.h"
#include "src/pipeline/checkpoint/checkpoint.h"

namespace millrace::dedupe {
namespace {

// Confirms equal hashes by comparing the bytes: once, when a copy is first seen, or for all files when outputs of other
// runs were imported. A file whose bytes differ is left out with the reason, since this program cannot distinguish it
// from the other. Its catalog record is false, and is dropped.
void confirm_copies(Library& library, bool imported, Catalog& catalog, const RunContext& context) {
  const bool all = catalog.has_unconfirmed_copies();
  const auto cancelled = [&] { return context.cancel.cancelled(); };
  for (LibraryPicture& picture : library.pictures) {
    const auto is_fresh = [&](std::uint32_t f) { return library.files[f].fresh; };
    if (picture.files.size() < 2 || !(all || std::any_of(picture.files.begin(), picture.files.end(), is_fresh)))
      continue;
    context.throw_if_cancelled();
    std::optional<std::uint32_t> first;  // first file that can be opened
    std::erase_if(picture.files, [&](std::uint32_t f) {
      const std::string& path = library.files[f].entry.path;
      const auto leave_out = [&](std::string why) {
        library.unreadable.push_back({path, std::move(why)});
        return true;
      };
      if (!first || all || is_fresh(f) || is_fresh(*first)) {
        auto file = FileReader::open(path, FileReader::Hashing::off);
        if (!file) return leave_out(file.error().what);
        if (!first) {
          first = f;
          return false;
        }
        const std::string& other = library.files[*first].entry.path;
        const auto same = have_same_contents(other, path, LinkPolicy::followed, cancelled);
        context.throw_if_cancelled();
        if (!same) return leave_out(same.error().what);
        if (!*same) {
          catalog.drop_file(path);
          return leave_out("it has the content hash of " + escape_unprintable(other) + ", but different bytes");
        }
      }
      return false;
    });
  }
  catalog.flush();
  // A killed run may have imported files that are not in these folders, so only a run with --from clears the flag.
  if (imported) catalog.put_unconfirmed_copies(false);
}

// Measured rate of reduced decoding of camera JPEGs: 70 pictures per second and thread (docs/performance.md).
double estimate_decoding_seconds(std::uint64_t pictures, const RunContext& context) {
  return static_cast<double>(pictures) / (70.0 * context.executor.threads());
}

Plan build_plan(std::uint64_t files, std::uint64_t fresh, std::uint64_t bytes, const RunContext& context) {
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  Plan out;
  out.lines = {{"pictures", fmt::format("{}, of which {} ({}) are new or changed and will be decoded",
                                        group_digits(files), group_digits(fresh), format_bytes(Bytes{bytes}))}};
  out.figures = {{"pictures", files}, {"fresh", fresh}, {"fresh_bytes", bytes}};
  out.threads = context.executor.threads();
  out.memory = {{"the program itself", 16_MiB}, {"decoding", Bytes{24 << 20} * std::min(fresh, threads)}};
  out.allowed = context.budget.limit();
  out.seconds = estimate_decoding_seconds(fresh, context);
  out.timed_step = "the decoding";
  return out;
}

}  // namespace

Library load_library(const DedupeOptions& options, Catalog& catalog, RunContext& context) {
  Library library = scan_library(options, catalog, context, [&](const std::vector<LibraryFile>& files) {
    import_stages(options.from, options.trust_files ? Trust::files : Trust::checked, files, catalog, context);
  });
  find_assets(library);
  confirm_copies(library, !options.from.empty(), catalog, context);
  if (options.pairs != PairMode::any) find_albums(roots_of(options), library);
  if (options.pairs == PairMode::within) split_by_albums(library);
  std::sort(library.unreadable.begin(), library.unreadable.end(),
            [](const UnreadableFile& a, const UnreadableFile& b) { return a.path < b.path; });
  return library;
}

SearchResult run(const DedupeOptions& options, Catalog& catalog, RunContext& context, const ResultCallback& on_result) {
  SearchResult result;
  result.library = load_library(options, catalog, context);
  result.rule = parse_rule(options.match, options.verify, result.library.pictures.size());
  FilePairComparator comparator(options, result.library, catalog, context);
  context.executor.run([&] {
    find_groups(options, result, catalog, comparator, context);
    if (on_result) on_result(result, comparator);
  });
  catalog.flush();
  return result;
}

Plan plan(const DedupeOptions& options, Catalog& catalog, RunContext& context) {
  const Library library = walk_library(options, context);
  std::set<ContentHash> pictures;
  catalog.for_each_picture(std::nullopt, [&](CatalogPicture& picture) {
    if (!is_read_again(picture, options)) pictures.insert(picture.content);
  });
  std::map<std::string, CatalogFile> known;
  for (const std::string& root : roots_of(options)) {
    for_each_catalog_file(catalog, root, "", "", [&](const CatalogFile& file) {
      const bool there = file.failed ? !options.retry : pictures.count(file.content) > 0;
      if (there) known.emplace(file.path, file);
    });
  }
  std::uint64_t fresh = 0, bytes = 0;
  for (const LibraryFile& file : library.files) {
    const auto at = known.find(file.entry.path);
    if (at != known.end() && is_unchanged(file.entry, at->second)) continue;
    ++fresh;
    bytes += file.entry.size;
  }
  Plan out = build_plan(library.files.size(), fresh, bytes, context);
  if (!options.from.empty()) {
    // The lines are not read yet, so only the number of files is known.
    const std::uint64_t read = count_stage_files(options.from, options.trust_files ? Trust::files : Trust::checked);
    out.lines.push_back(
        {"stages", fmt::format("{} files were read by earlier stages and are not decoded again", group_digits(read))});
    out.figures["read_by_stages"] = read;
    out.seconds = estimate_decoding_seconds(fresh - std::min(fresh, read), context);
  }
  if (options.share) {
    const std::uint64_t k = options.share.index + 1, n = options.share.of;
    out.lines.push_back(
        {"shard", fmt::format("{} of {}: about one in {} of the comparisons and detailed checks", k, n, n)});
    out.figures["part"] = k;
    out.figures["parts"] = n;
  }
  out.lines.push_back({"rule", parse_rule(options.match, options.verify, library.files.size()).text});
  out.figures["rule"] = options.match;
  // Measured with a million cataloged pictures (docs/performance.md).
  out.memory.insert(out.memory.begin() + 1, {"data of the pictures", Bytes{1100} * library.files.size()});
  out.more_memory = "more for detailed checks, if available";
  return out;
}

Plan plan_reading(const DedupeOptions& options, RunContext& context) {
  const Library library = walk_library(options, context, InventoryCheck::trusted);
  Plan out = build_plan(library.files.size(), library.files.size(), library.bytes, context);
  const ShardLayout parts{library.files.size(), compute_shard_size(options)};
  const std::uint64_t own = options.share.count(parts.count());
  out.lines.push_back({"shards", fmt::format("{} of {} files each, {} of them in this run", group_digits(parts.count()),
                                             group_digits(parts.each), group_digits(own))});
  out.figures["shards"] = parts.count();
  out.figures["part_shards"] = own;
  out.seconds = estimate_decoding_seconds(std::min(parts.rows, own * parts.each), context);
  return out;
}

}  // namespace millrace::dedupe
