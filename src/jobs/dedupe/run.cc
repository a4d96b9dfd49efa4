#include "src/jobs/dedupe/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "src/base/text.h"
#include "src/io/image/picture.h"
#include "src/jobs/dedupe/assets.h"
#include "src/jobs/dedupe/grouping.h"

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
      const auto same = same_contents(first, file.entry.path);
      if (same && *same) return false;
      library.unreadable.push_back(
          {file.entry.path,
           same ? "its content hash is that of " + printable(first) + ", its bytes are not" : same.error().what});
      return true;
    });
  }
}

}  // namespace

Result run(const Options& options, Catalog& catalog, RunContext& context) {
  const auto start = Clock::now();
  Result result;
  result.rule = parse_rule(options.match, options.verify);
  result.library = scan(options, catalog, context);
  find_assets(result.library);
  confirm_copies(result.library, context);
  std::sort(result.library.unreadable.begin(), result.library.unreadable.end(),
            [](const Unreadable& a, const Unreadable& b) { return a.path < b.path; });
  CloseLooks looks(options, result.library, catalog, context);
  context.executor.run([&] { find_groups(options, result, catalog, looks, context); });
  catalog.flush();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

std::string plan(const Options& options, Catalog& catalog, RunContext& context) {
  const std::vector<std::string> roots = roots_of(options);
  WalkOptions walking;
  walking.exclude = options.exclude;
  walking.hidden = options.hidden;
  walking.follow_symlinks = options.follow_symlinks;
  walking.cross_file_systems = options.cross_file_systems;
  const WalkResult found = walk(roots, walking);
  std::set<std::tuple<std::string, std::uint64_t, std::int64_t>> known;
  for (const std::string& root : roots) {
    each_known_file(catalog, root, "", "",
                    [&](const CatalogFile& file) { known.emplace(file.path, file.size, file.mtime_ns); });
  }
  std::uint64_t pictures = 0, fresh = 0, bytes = 0;
  for (const FileEntry& file : found.files) {
    if (!has_picture_extension(file.path) || file.size < options.min_size.count) continue;
    ++pictures;
    if (known.count({file.path, file.size, file.mtime_ns}) > 0) continue;
    ++fresh;
    bytes += file.size;
  }
  // 70 pictures a second and thread is what reduced decoding of camera JPEGs reaches (docs/performance.md).
  return fmt::format(
      "pictures:  {}, of which {} ({}) are new or changed and will be decoded\nrule:      {}\nthreads:   {}\n"
      "memory:    {} at most\ntime:      about {} for the decoding\n",
      grouped(pictures), grouped(fresh), to_text(Bytes{bytes}), parse_rule(options.match, options.verify).text,
      context.executor.threads(), to_text(context.budget.limit()),
      duration_text(static_cast<double>(fresh) / (70.0 * context.executor.threads())));
}

}  // namespace millrace::dedupe
