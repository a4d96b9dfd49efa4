#include "src/jobs/dedupe/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/text.h"
#include "src/io/image/picture.h"
#include "src/jobs/dedupe/group/grouping.h"
#include "src/jobs/dedupe/scan/albums.h"
#include "src/jobs/dedupe/scan/assets.h"
#include "src/jobs/dedupe/scan/reading.h"

namespace millrace::dedupe {
namespace {

// Equal hashes are confirmed by the bytes themselves, once, when a copy is first seen. A file whose bytes differ after
// all is left out with the reason: to this program it cannot be told apart from the other.
void confirm_copies(Library& library, const RunContext& context) {
  for (Picture& picture : library.pictures) {
    if (picture.files.size() < 2) continue;
    context.throw_if_cancelled();
    const std::string& first = library.files[picture.files[0]].entry.path;
    std::erase_if(picture.files, [&](std::uint32_t f) {
      const File& file = library.files[f];
      if (f == picture.files[0] || (!file.fresh && !library.files[picture.files[0]].fresh)) return false;
      const auto same =
          same_contents(first, file.entry.path, Links::followed, [&] { return context.cancel.cancelled(); });
      context.throw_if_cancelled();
      if (same && *same) return false;
      library.unreadable.push_back(
          {file.entry.path,
           same ? "its content hash is that of " + printable(first) + ", its bytes are not" : same.error().what});
      return true;
    });
  }
}

}  // namespace

SearchResult run(const Options& options, Catalog& catalog, RunContext& context, const Ask& ask) {
  const auto start = Clock::now();
  SearchResult result;
  result.rule = parse_rule(options.match, options.verify);
  result.library = scan(options, catalog, context);
  find_assets(result.library);
  confirm_copies(result.library, context);
  if (options.pairs != PairMode::any) find_albums(roots_of(options), result.library);
  if (options.pairs == PairMode::within) split_by_albums(result.library);
  std::sort(result.library.unreadable.begin(), result.library.unreadable.end(),
            [](const Unreadable& a, const Unreadable& b) { return a.path < b.path; });
  CloseLooks looks(options, result.library, catalog, context);
  context.executor.run([&] {
    find_groups(options, result, catalog, looks, context);
    if (ask) ask(result, looks);
  });
  catalog.flush();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

Plan plan(const Options& options, Catalog& catalog, RunContext& context) {
  const Library library = walk_library(options, context);
  std::set<ContentHash> pictures;
  catalog.each_picture(std::nullopt, [&](CatalogPicture& picture) {
    if (!is_read_again(picture, options)) pictures.insert(picture.content);
  });
  std::set<std::tuple<std::string, std::uint64_t, std::int64_t>> known;
  for (const std::string& root : roots_of(options)) {
    each_known_file(catalog, root, "", "", [&](const CatalogFile& file) {
      const bool there = file.failed ? !options.retry : pictures.count(file.content) > 0;
      if (there) known.emplace(file.path, file.size, file.mtime_ns);
    });
  }
  std::uint64_t fresh = 0, bytes = 0;
  for (const File& file : library.files) {
    if (known.count({file.entry.path, file.entry.size, file.entry.mtime_ns}) > 0) continue;
    ++fresh;
    bytes += file.entry.size;
  }
  // What a million known pictures took, and what a picture takes that is decoded at a reduced size
  // (docs/performance.md).
  const Bytes each = Bytes{1100};
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  Plan out;
  out.lines = {{"pictures", fmt::format("{}, of which {} ({}) are new or changed and will be decoded",
                                        grouped(library.files.size()), grouped(fresh), to_text(Bytes{bytes}))},
               {"rule", parse_rule(options.match, options.verify).text}};
  out.figures = {{"pictures", library.files.size()}, {"fresh", fresh}, {"fresh_bytes", bytes}, {"rule", options.match}};
  out.threads = context.executor.threads();
  out.memory = {{"the program itself", 16_MiB},
                {"what is known of the pictures", each * library.files.size()},
                {"decoding", Bytes{24 << 20} * std::min(fresh, threads)}};
  out.more_memory = "and more for close looks where it is there";
  out.allowed = context.budget.limit();
  // 70 pictures a second and thread is what reduced decoding of camera JPEGs reaches (docs/performance.md).
  out.seconds = static_cast<double>(fresh) / (70.0 * context.executor.threads());
  out.seconds_of = "the decoding";
  return out;
}

}  // namespace millrace::dedupe
