#include "src/jobs/dedupe/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "src/base/text.h"
#include "src/io/image/fingerprint.h"
#include "src/io/image/helper_client.h"
#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/codes.h"
#include "src/jobs/dedupe/companions.h"
#include "src/kernels/alike/alike.h"

namespace millrace::dedupe {
namespace {

// Changes whenever alike::compare() may judge the same thumbnails differently.
constexpr int kJudgeVersion = 1;

constexpr int kThumbnailSide = 128;
constexpr std::size_t kThumbnailBytes = 4096;
// The largest target is phash's 32 x 32; eight times that keeps hashes within a bit or two of a full decode.
constexpr int kShortestSide = 256;

struct ContentKey {
  std::size_t operator()(const ContentHash& hash) const {
    std::size_t value = 0;
    std::copy_n(hash.begin(), sizeof(value), reinterpret_cast<std::uint8_t*>(&value));
    return value;
  }
};

// A failure that tells more of this run, its limits and its machine, than of the picture: the next run tries again.
bool passing_failure(const CatalogPicture& picture) {
  return picture.failed && (picture.code == ErrorCode::too_large || picture.code == ErrorCode::out_of_memory ||
                            picture.code == ErrorCode::unavailable);
}

bool inside(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && (folder == "/" || path[folder.size()] == '/');
}

// One file's way through the pipeline.
struct Read {
  std::size_t file = 0;
  std::optional<Error> error;  // of the file itself
  ContentHash content{};
  bool has_picture = false;  // `picture` was made now; otherwise another file's content is the same
  CatalogPicture picture;
  std::vector<std::uint8_t> thumbnail;
};

CatalogPicture picture_of(const Fingerprint& print, const ContentHash& content) {
  CatalogPicture p;
  p.content = content;
  p.format = static_cast<int>(print.info.format);
  const bool swapped = swaps_sides(print.info.exif.orientation);
  p.width = swapped ? print.info.full_height : print.info.full_width;
  p.height = swapped ? print.info.full_width : print.info.full_height;
  p.quality = print.hashes.quality;
  p.damage = print.damaged ? (print.damage.empty() ? "part of it is missing" : print.damage) : "";
  for (std::size_t c = 0; c < kCatalogCodes.size(); ++c) p.codes[c] = packed64(print.hashes.bits[c]);
  const Codes middle = middle_codes(squeezed(print.thumbnail, alike::kSide).data());
  p.codes[4] = middle[0];
  p.codes[5] = middle[3];
  p.taken = print.info.exif.taken;
  p.subsecond = print.info.exif.subsecond;
  p.camera = print.info.exif.camera;
  p.exif_fields = print.info.exif.fields;
  return p;
}

class Reader {
 public:
  Reader(const Options& options, RunContext& context, const std::vector<File>& files)
      : context_(context), files_(files) {
    wanted_.hashes = {{kCatalogCodes.begin(), kCatalogCodes.end()}, 8};
    wanted_.upright = true;
    wanted_.thumbnail_side = kThumbnailSide;
    wanted_.content_hash = true;
    wanted_.decode.shortest_side = kShortestSide;
    wanted_.decode.most_pixels = static_cast<std::uint64_t>(options.max_pixels);
    cancelled_ = [&context] { return context.cancel.cancelled(); };
  }

  void know(const ContentHash& content) { known_.insert(content); }

  // `twins`: another file has the same size, so the bytes are hashed before anything is decoded.
  std::unique_ptr<Read> read(std::size_t index, bool twins, Span& span) {
    auto out = std::make_unique<Read>();
    out->file = index;
    const std::string& path = files_[index].entry.path;
    if (twins) {
      auto content = hash_file(path);
      if (!content) {
        out->error = content.error();
        return out;
      }
      out->content = *content;
      span.stage().add_bytes(files_[index].entry.size);
      if (!claim(out->content)) return out;
    }
    auto file = FileReader::open(path);
    if (!file) {
      out->error = file.error();
      return out;
    }
    Outcome<Fingerprint> print = fingerprint(**file, wanted_, context_.budget, cancelled_, span);
    span.stage().add_bytes((*file)->bytes_read());
    if (!print && (print.error().code == ErrorCode::cancelled || (*file)->failed())) {
      out->error = print.error();
      return out;
    }
    if (!print) {
      // The bytes were read and are not a picture that decodes: true of every copy of them.
      auto content = (*file)->finish_hash();
      if (!content) {
        out->error = content.error();
        return out;
      }
      out->content = *content;
      out->picture.content = *content;
      out->picture.failed = true;
      out->picture.code = print.error().code;
      out->picture.reason = print.error().what;
      out->has_picture = true;
      return out;
    }
    out->content = print->content;
    if (!twins && !claim(out->content)) return out;
    out->picture = picture_of(*print, print->content);
    out->thumbnail = encode_thumbnail(print->thumbnail, kThumbnailBytes);
    out->picture.look = short_hash(out->thumbnail);
    out->has_picture = true;
    return out;
  }

 private:
  // True for the first who asks: that one decodes.
  bool claim(const ContentHash& content) {
    const std::lock_guard lock(mutex_);
    return known_.insert(content).second;
  }

  RunContext& context_;
  const std::vector<File>& files_;
  FingerprintOptions wanted_;
  std::function<bool()> cancelled_;
  std::mutex mutex_;
  std::set<ContentHash> known_;
};

// Walks, and sorts what was found into picture files and what may accompany them.
Library find(const Options& options, const RunContext& context) {
  WalkOptions walking;
  walking.exclude = options.exclude;
  walking.exclude.emplace_back(".millrace-*");  // what `dedupe apply` set aside
  walking.hidden = options.hidden;
  walking.follow_symlinks = options.follow_symlinks;
  walking.cancelled = [&] { return context.cancel.cancelled(); };
  const std::vector<std::string> references = absolute_folders(options.reference);
  std::vector<std::string> roots = absolute_folders(options.folders);
  roots.insert(roots.end(), references.begin(), references.end());
  WalkResult found = walk(roots, walking);

  Library library;
  for (const Error& error : found.unreadable) library.unreadable.push_back({error.subject, error.what});
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> linked;
  for (FileEntry& entry : found.files) {
    if (!has_picture_extension(entry.path)) {
      if (may_accompany(entry.path)) library.others.push_back(std::move(entry.path));
      continue;
    }
    if (entry.size < options.min_size.count) continue;
    if (entry.links > 1) {
      const auto [at, first] = linked.try_emplace({entry.device, entry.inode}, library.files.size());
      if (!first) {
        library.files[at->second].hard_links.push_back(std::move(entry.path));
        continue;
      }
    }
    File file;
    file.reference = std::any_of(references.begin(), references.end(), [&](const std::string& folder) {
      return inside(entry.path, folder) || entry.path == folder;
    });
    library.bytes += entry.size;
    file.entry = std::move(entry);
    library.files.push_back(std::move(file));
  }
  return library;
}

}  // namespace

std::string catalog_key() {
  return fmt::format("hashes {} upright, reduced to {}, thumbnails {}, alike {}, turned as EXIF says", kHashVersion,
                     kShortestSide, kThumbnailSide, kJudgeVersion);
}

std::vector<std::string> absolute_folders(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(folder.c_str(), nullptr), std::free);
    if (!real) {
      Error error = system_error("cannot be used", printable(folder), errno);
      error.code = ErrorCode::usage;
      error.remedy = "check the name";
      throw Failure(error);
    }
    out.emplace_back(real.get());
  }
  return out;
}

Library scan(const Options& options, Catalog& catalog, RunContext& context) {
  Library library = find(options, context);
  std::vector<File>& files = library.files;

  std::vector<ContentHash> content_of(files.size());
  std::vector<std::string> failure_of(files.size());
  std::vector<bool> known(files.size(), false);
  Reader reader(options, context, files);
  std::vector<CatalogPicture> pictures = catalog.pictures();
  std::unordered_map<ContentHash, std::size_t, ContentKey> picture_at;
  picture_at.reserve(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    picture_at.emplace(pictures[i].content, i);
    reader.know(pictures[i].content);
  }

  // Both lists are in the order of path bytes.
  std::size_t at = 0;
  for (const CatalogFile& record : catalog.files()) {
    while (at < files.size() && files[at].entry.path < record.path) ++at;
    if (at == files.size()) break;
    const FileEntry& entry = files[at].entry;
    if (entry.path != record.path || entry.size != record.size || entry.mtime_ns != record.mtime_ns) continue;
    if (!record.failed && picture_at.count(record.content) == 0) continue;  // a killed run wrote the file alone
    known[at] = true;
    content_of[at] = record.content;
    if (record.failed) failure_of[at] = record.reason;
    ++library.unchanged;
  }

  std::unordered_map<std::uint64_t, int> of_size;
  for (const File& file : files) ++of_size[file.entry.size];
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!known[i]) fresh.push_back(i);
  }
  limit_helper_memory(context.budget.limit());
  {
    Progress progress(context.progress, "reading", fresh.size());
    std::size_t next = 0;
    using Item = std::shared_ptr<Read>;
    auto stages = chain::source<std::size_t>("list",
                                             [&]() -> std::optional<std::size_t> {
                                               return next < fresh.size() ? std::optional(fresh[next++]) : std::nullopt;
                                             }) |
                  chain::parallel<std::size_t, Item>(
                      "read and decode",
                      [&](std::size_t index, Span& span) -> Item {
                        return reader.read(index, of_size.at(files[index].entry.size) > 1, span);
                      },
                      "more threads, or a faster disk") |
                  chain::sink<Item>("catalogue", [&](const Item& item, Span&) {
                    const std::size_t i = item->file;
                    if (item->error && item->error->code == ErrorCode::cancelled) return;
                    const FileEntry& entry = files[i].entry;
                    CatalogFile record{entry.path, entry.size, entry.mtime_ns, false, {}, "", item->content};
                    if (item->error) {
                      record.failed = true;
                      record.code = item->error->code;
                      record.reason = failure_of[i] = item->error->what;
                    }
                    known[i] = true;
                    files[i].fresh = true;
                    content_of[i] = item->content;
                    if (item->has_picture) {
                      ++library.decoded;
                      picture_at.emplace(item->content, pictures.size());
                      pictures.push_back(item->picture);
                      if (!passing_failure(item->picture))
                        catalog.put(std::move(item->picture), std::move(item->thumbnail));
                    }
                    // A file that vanished or could not be read may be there again at the next run.
                    const bool passing = item->error && (item->error->code == ErrorCode::not_found ||
                                                         item->error->code == ErrorCode::io);
                    if (!passing) catalog.put(std::move(record));
                    catalog.flush_now_and_then();
                    progress.add(1, entry.size);
                  });
    chain::run(stages, context, {FileReader::kChunk});
  }
  stop_helpers();
  catalog.flush();
  if (context.cancel.cancelled()) {
    throw Failure(ErrorCode::cancelled, "interrupted; the same command goes on where this one stopped");
  }

  // The file that was to be decoded for all of its copies may have gone in the meantime.
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (known[i] && failure_of[i].empty() && picture_at.count(content_of[i]) == 0) {
      failure_of[i] = "a copy of it vanished while it was read; run the same command again";
    }
  }

  // Pictures in the order of their content: no index depends on which file was read first.
  std::vector<ContentHash> used;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (known[i] && failure_of[i].empty() && !pictures[picture_at.at(content_of[i])].failed)
      used.push_back(content_of[i]);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const ContentHash& content : used) library.pictures.push_back({std::move(pictures[picture_at.at(content)]), {}});
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!failure_of[i].empty()) {
      library.unreadable.push_back({files[i].entry.path, failure_of[i]});
      continue;
    }
    const auto found = std::lower_bound(used.begin(), used.end(), content_of[i]);
    if (found == used.end() || *found != content_of[i]) {
      library.unreadable.push_back({files[i].entry.path, pictures[picture_at.at(content_of[i])].reason});
      continue;
    }
    files[i].picture = static_cast<std::uint32_t>(found - used.begin());
    library.pictures[files[i].picture].files.push_back(static_cast<std::uint32_t>(i));
  }
  std::sort(library.unreadable.begin(), library.unreadable.end(),
            [](const Unreadable& a, const Unreadable& b) { return a.path < b.path; });
  return library;
}

}  // namespace millrace::dedupe
