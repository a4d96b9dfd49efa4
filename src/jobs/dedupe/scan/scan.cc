#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <unordered_map>

#include "src/base/log.h"
#include "src/base/mutex.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/scan/picture_reader.h"
#include "src/pipeline/chain.h"

namespace millrace::dedupe {

void for_each_catalog_file(Catalog& catalog, const std::string& root, const std::string& from, const std::string& to,
                           const std::function<void(const CatalogFile&)>& visit) {
  const auto between = [&](const std::string& low, const std::string& high) {
    const std::string begin = std::max(low, from), end = to.empty() ? high : std::min(high, to);
    if (begin < end) catalog.for_each_file(begin, end, visit);
  };
  // The range holds the root itself, if it is a file, and everything below it; '0' is the character after '/'.
  const std::string inside = root == "/" ? root : root + "/";
  if (root != "/") between(root, root + '\0');
  between(inside, inside.substr(0, inside.size() - 1) + '0');
}

bool is_unchanged(const FileEntry& file, const CatalogFile& known) {
  if (file.size != known.size || file.mtime_ns != known.mtime_ns) return false;
  const bool comparable = file.ctime_ns != 0 && known.ctime_ns != 0;
  return !comparable || (file.inode == known.inode && file.ctime_ns == known.ctime_ns);
}

namespace {

class Scan {
 public:
  Scan(const DedupeOptions& options, Catalog& catalog, RunContext& context)
      : options_(options), catalog_(catalog), context_(context) {}

  Library run(const std::function<void(const std::vector<LibraryFile>&)>& walked) {
    {
      const Span span(context_.trace.stage("walk", 1));
      library_ = walk_library(options_, context_);
    }
    if (walked) walked(library_.files);
    {
      const Span span(context_.trace.stage("read catalog", 1));
      content_of_.resize(library_.files.size());
      known_.resize(library_.files.size(), 0);
      recall_files();
      recall_pictures();
    }
    read_fresh();
    const Span span(context_.trace.stage("read catalog", 1));
    assemble();
    if (options_.files.links.follow_symlinks) store_real_paths();
    return std::move(library_);
  }

 private:
  using FileIndex = std::uint32_t;

  // Calls body(begin, end) on as many ranges of [0, count) as there are threads; on fewer if there is little to do.
  void run_on_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) const {
    constexpr std::size_t kWorthAThread = 10'000;
    const std::size_t parts =
        std::clamp<std::size_t>(count / kWorthAThread, 1, static_cast<std::size_t>(context_.executor.threads()));
    context_.executor.parallel_for(parts, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t part = from; part < to; ++part) body(part * count / parts, (part + 1) * count / parts);
    });
    context_.throw_if_cancelled();
  }

  // Finds files that are unchanged since an earlier run.
  void recall_files() {
    const std::vector<LibraryFile>& files = library_.files;
    const std::vector<std::string> roots = roots_of(options_);
    Mutex failures;
    const auto before = [](const LibraryFile& file, const std::string& path) { return file.entry.path < path; };
    run_on_ranges(files.size(), [&](std::size_t begin, std::size_t end) {
      for (const std::string& root : roots) {
        std::size_t at = begin;
        // Files and records both come in the order of path bytes.
        const auto compare = [&](const CatalogFile& record) {
          if (at < end && before(files[at], record.path)) ++at;
          if (at < end && before(files[at], record.path))
            at = static_cast<std::size_t>(std::lower_bound(files.begin() + static_cast<std::ptrdiff_t>(at),
                                                           files.begin() + static_cast<std::ptrdiff_t>(end),
                                                           record.path, before) -
                                          files.begin());
          if (at == end || known_[at] != 0) return;
          const FileEntry& entry = files[at].entry;
          if (entry.path != record.path || !is_unchanged(entry, record)) return;
          known_[at] = record.ctime_ns == 0 && entry.ctime_ns != 0 && !record.failed ? kWithoutState : kKnown;
          if (record.failed && options_.retry) {
            known_[at] = 0;
          } else if (record.failed) {
            const MutexLock lock(failures);
            failure_of_[static_cast<FileIndex>(at)] = record.reason;
          } else {
            content_of_[at] = record.content;
          }
        };
        if (begin < end)
          for_each_catalog_file(catalog_, root, files[begin].entry.path,
                                end < files.size() ? files[end].entry.path : "", compare);
      }
    });
    complete_records();
  }

  // Adds inode and change time to records of an earlier version or of another machine.
  void complete_records() {
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i] != kWithoutState) continue;
      known_[i] = kKnown;
      catalog_.put(make_catalog_file(library_.files[i].entry, content_of_[i]));
      catalog_.flush_periodically();
    }
    catalog_.flush();
  }

  // Returns the contents of the files for which `which` is true, sorted, with their files.
  std::vector<std::pair<ContentHash, FileIndex>> contents(const std::function<bool(std::size_t)>& which) const {
    std::vector<std::pair<ContentHash, FileIndex>> out;
    for (std::size_t i = 0; i < content_of_.size(); ++i) {
      if (which(i)) out.emplace_back(content_of_[i], static_cast<FileIndex>(i));
    }
    context_.executor.run([&] { oneapi::tbb::parallel_sort(out.begin(), out.end()); });
    return out;
  }

  // Returns the pictures of these files in the order of their content. A picture that the catalog lacks, or that is
  // over this run's limit, is left empty.
  std::vector<LibraryPicture> recall(const std::vector<std::pair<ContentHash, FileIndex>>& files) {
    std::vector<ContentHash> wanted;
    wanted.reserve(files.size());
    for (const auto& file : files) {
      if (wanted.empty() || wanted.back() != file.first) wanted.push_back(file.first);
    }
    std::vector<LibraryPicture> pictures(wanted.size());
    run_on_ranges(wanted.size(), [&](std::size_t begin, std::size_t end) {
      std::size_t at = begin;
      catalog_.for_each_picture(std::span(wanted).subspan(begin, end - begin), [&](CatalogPicture& known) {
        while (wanted[at] != known.content) ++at;
        if (!is_read_again(known, options_)) pictures[at].data = std::move(known);
      });
    });
    std::size_t at = 0;
    for (const auto& [content, file] : files) {
      while (wanted[at] != content) ++at;
      if (pictures[at].data.content == content) pictures[at].files.push_back(file);
    }
    return pictures;
  }

  void recall_pictures() {
    library_.pictures = recall(
        contents([&](std::size_t i) { return known_[i] != 0 && failure_of_.count(static_cast<FileIndex>(i)) == 0; }));
    // A file without a picture in the catalog is read again: its failure depended on that run, a killed run wrote the
    // record, or the limit changed.
    std::vector<bool> found(known_.size(), false);
    for (const LibraryPicture& picture : library_.pictures) {
      for (const FileIndex i : picture.files) found[i] = true;
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!found[i] && failure_of_.count(static_cast<FileIndex>(i)) == 0) known_[i] = 0;
      library_.unchanged += known_[i];
    }
    std::erase_if(library_.pictures, [](const LibraryPicture& p) { return p.files.empty(); });
  }

  void read_fresh() {
    std::vector<LibraryFile>& files = library_.files;
    std::vector<std::size_t> fresh;
    std::unordered_map<std::uint64_t, int> of_size;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (known_[i] != 0) continue;
      fresh.push_back(i);
      of_size.emplace(files[i].entry.size, 0);
    }
    if (fresh.empty()) return;
    for (const LibraryFile& file : files) {
      if (const auto at = of_size.find(file.entry.size); at != of_size.end()) ++at->second;
    }
    // A file in a moved folder is recognised by its bytes, so equal sizes in the catalog count too. Reading the sizes
    // of a million files takes 0.08 s.
    catalog_.for_each_size([&](std::uint64_t size) {
      if (const auto at = of_size.find(size); at != of_size.end()) ++at->second;
    });
    LibraryReader reader(options_, catalog_, context_, files);
    {
      Progress progress(context_.progress, "reading", fresh.size());
      std::size_t next = 0;
      using Item = std::shared_ptr<FileReadResult>;
      auto stages =
          chain::source<std::size_t>("list",
                                     [&]() -> std::optional<std::size_t> {
                                       return next < fresh.size() ? std::optional(fresh[next++]) : std::nullopt;
                                     }) |
          chain::parallel<std::size_t, Item>(
              "read and decode",
              [&](std::size_t index, Span& span) -> Item {
                return reader.read(index, of_size.at(files[index].entry.size) > 1, span);
              },
              "more threads, or a faster disk") |
          chain::sink<Item>("write catalog", [&](const Item& item, Span&) {
            if (item->error && item->error->code == ErrorCode::cancelled) return;
            take(*item);
            progress.add(1, files[item->file].entry.size);
          });
      chain::run(stages, context_, chain::MemoryCost::fixed({FileReader::kChunk}));
    }
    context_.throw_if_cancelled();
    resolve_name_conflicts(reader);
    context_.helpers.end_idle();
    catalog_.flush();
    context_.throw_if_cancelled();
  }

  // The name decides how some files are decoded. If one content has names of both kinds, the result would depend on the
  // reading order. So the first name under which it can be decoded decides, among all files, also the unchanged ones.
  void resolve_name_conflicts(LibraryReader& reader) {
    const auto has_content = [&](std::size_t i) {
      return known_[i] != 0 && failure_of_.count(static_cast<FileIndex>(i)) == 0;
    };
    std::map<ContentHash, LibraryPicture*> made;  // of contents with a RAW name; null if not decoded in this run
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (has_content(i) && has_raw_extension(library_.files[i].entry.path)) made.emplace(content_of_[i], nullptr);
    }
    if (made.empty()) return;
    for (LibraryPicture& picture : decoded_pictures_) {
      if (const auto at = made.find(picture.data.content); at != made.end()) at->second = &picture;
    }
    const auto named = contents([&](std::size_t i) {
      if (!has_content(i)) return false;
      const auto at = made.find(content_of_[i]);
      return at != made.end() && at->second != nullptr;
    });
    const auto path = [&](std::size_t i) -> const std::string& { return library_.files[named[i].second].entry.path; };
    Span span(context_.trace.stage("read and decode", 1));
    for (std::size_t begin = 0, end = 0; begin < named.size(); begin = end) {
      bool both = false;
      for (end = begin; end < named.size() && named[end].first == named[begin].first; ++end)
        both = both || has_raw_extension(path(end)) != has_raw_extension(path(begin));
      std::unique_ptr<FileReadResult> first;
      for (std::size_t i = begin; both && i < end && (!first || first->picture.failed); ++i) {
        auto read = reader.decode(named[i].second, span);
        context_.throw_if_cancelled();
        if (!read->has_picture || read->content != named[i].first) continue;
        if (!first || !read->picture.failed) first = std::move(read);
      }
      if (!first) continue;
      made.at(first->content)->data = first->picture;
      const std::size_t file = first->file;
      store_read_result(catalog_, library_.files[file].entry, *std::move(first));
    }
  }

  void take(FileReadResult& item) {
    const FileEntry& entry = library_.files[item.file].entry;
    if (item.error) {
      failure_of_[static_cast<FileIndex>(item.file)] = item.error->what;
      spdlog::debug("{}: {}", escape_unprintable(entry.path), item.error->what);
    }
    known_[item.file] = 1;
    library_.files[item.file].fresh = true;
    content_of_[item.file] = item.content;
    if (item.has_picture) {
      ++library_.decoded;
      spdlog::debug("{}: {}", escape_unprintable(entry.path), item.picture.failed ? item.picture.reason : "decoded");
      decoded_pictures_.push_back({item.picture, {}});
    }
    store_read_result(catalog_, entry, std::move(item));
  }

  // Records the real path of a file that was found through a link. The link may lead elsewhere by the time a person
  // decides, to a file that no run has read.
  void store_real_paths() {
    std::map<std::string, std::string> real;  // real path of each folder
    for (std::size_t i = 0; i < library_.files.size(); ++i) {
      const FileEntry& entry = library_.files[i].entry;
      if (library_.files[i].picture == kNone) continue;
      const std::string folder = folder_of(entry.path);
      const auto [at, fresh] = real.try_emplace(folder);
      if (fresh) at->second = real_path(folder).value_or(folder);
      if (at->second == folder) continue;
      const std::string own = join_path(at->second, file_name(entry.path));
      const auto now = state_of(own);
      // The file was replaced since it was read.
      if (!now || now->device != entry.device || now->inode != entry.inode || now->size != entry.size ||
          now->mtime_ns != entry.mtime_ns)
        continue;
      CatalogFile record = make_catalog_file(entry, content_of_[i]);
      record.path = own;
      catalog_.put(std::move(record));
      catalog_.flush_periodically();
    }
    catalog_.flush();
  }

  // Sorts the pictures by content, so that no index depends on the reading order.
  void assemble() {
    add_fresh();
    for (std::size_t p = 0; p < library_.pictures.size(); ++p) {
      LibraryPicture& picture = library_.pictures[p];
      if (picture.data.failed) {
        for (const FileIndex i : picture.files) failure_of_[i] = picture.data.reason;
      }
    }
    std::erase_if(library_.pictures, [](const LibraryPicture& p) { return p.data.failed || p.files.empty(); });
    for (std::size_t p = 0; p < library_.pictures.size(); ++p) {
      for (const FileIndex i : library_.pictures[p].files) library_.files[i].picture = static_cast<std::uint32_t>(p);
    }
    for (const auto& [file, reason] : failure_of_)
      library_.unreadable.push_back({library_.files[file].entry.path, reason});
    for (std::size_t i = 0; i < library_.files.size(); ++i) {
      if (library_.files[i].picture != kNone || failure_of_.count(static_cast<FileIndex>(i)) > 0) continue;
      // The file that was to be decoded for all of its copies vanished in the meantime.
      library_.unreadable.push_back({library_.files[i].entry.path,
                                     "an identical file was removed while it was read; run the same command again"});
    }
  }

  // Assigns the files read in this run to pictures that were decoded in it, or that the catalog has.
  void add_fresh() {
    const auto fresh = contents(
        [&](std::size_t i) { return library_.files[i].fresh && failure_of_.count(static_cast<FileIndex>(i)) == 0; });
    if (fresh.empty()) return;
    const auto by_content = [](const LibraryPicture& a, const LibraryPicture& b) {
      return a.data.content < b.data.content;
    };
    std::vector<LibraryPicture>& made = decoded_pictures_;
    std::sort(made.begin(), made.end(), by_content);
    // Pictures that had failed and were decoded under another name.
    for (LibraryPicture& picture : made) {
      const auto [at, end] = find_picture_range(library_.pictures, picture.data.content);
      if (at == end) continue;
      picture.files = std::move(library_.pictures[at].files);
      library_.pictures[at].files.clear();
    }
    const auto known = [&](const ContentHash& content) -> LibraryPicture* {
      for (std::vector<LibraryPicture>* pictures : {&made, &library_.pictures}) {
        if (const auto [at, end] = find_picture_range(*pictures, content); at < end) return &(*pictures)[at];
      }
      return nullptr;
    };
    std::vector<std::pair<ContentHash, FileIndex>> elsewhere;
    for (std::size_t begin = 0, end = 0; begin < fresh.size(); begin = end) {
      while (end < fresh.size() && fresh[end].first == fresh[begin].first) ++end;
      LibraryPicture* picture = known(fresh[begin].first);
      for (std::size_t i = begin; i < end; ++i) {
        if (picture == nullptr) {
          elsewhere.push_back(fresh[i]);
        } else {
          picture->files.push_back(fresh[i].second);
        }
      }
      if (picture != nullptr) std::sort(picture->files.begin(), picture->files.end());
    }
    for (LibraryPicture& picture : recall(elsewhere)) {  // known from a file outside these folders
      if (!picture.files.empty()) made.push_back(std::move(picture));
    }
    std::sort(made.begin(), made.end(), by_content);
    // Merges from the back, so that a million pictures move once to make room for a few.
    std::vector<LibraryPicture>& all = library_.pictures;
    std::size_t from = all.size();
    all.resize(from + made.size());
    for (std::size_t to = all.size(); !made.empty(); --to) {
      if (from > 0 && made.back().data.content < all[from - 1].data.content) {
        all[to - 1] = std::move(all[--from]);
      } else {
        all[to - 1] = std::move(made.back());
        made.pop_back();
      }
    }
  }

  const DedupeOptions& options_;
  Catalog& catalog_;
  RunContext& context_;
  Library library_;
  std::vector<ContentHash> content_of_;                         // of each known file
  static constexpr std::uint8_t kKnown = 1, kWithoutState = 2;  // kWithoutState: the record lacks inode and ctime
  std::vector<std::uint8_t> known_;  // bytes, since several threads write them; 0: to be read
  std::map<FileIndex, std::string> failure_of_;
  std::vector<LibraryPicture> decoded_pictures_;  // decoded in this run
};

}  // namespace

Library scan_library(const DedupeOptions& options, Catalog& catalog, RunContext& context,
                     const std::function<void(const std::vector<LibraryFile>&)>& walked) {
  return Scan(options, catalog, context).run(walked);
}

}  // namespace millrace::dedupe
