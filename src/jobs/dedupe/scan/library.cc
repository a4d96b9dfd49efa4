#include "src/jobs/dedupe/scan/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/io/image/picture.h"
#include "src/jobs/dedupe/scan/companions.h"
#include "src/jobs/dedupe/scan/picture_reader.h"
#include "src/jobs/inventory_file.h"

namespace millrace::dedupe {
namespace {

// Version of similarity::compare(). Increase it whenever equal thumbnails may give another result.
// docs/design/similarity.md gives the reasons for the constants of this file.
constexpr int kVerifierVersion = 3;
// Version of the decoders. Increase it whenever a file may be decoded to other pixels, or its EXIF fields counted
// otherwise, than before.
constexpr int kDecoderVersion = 4;

// Makes the path absolute, without "." and "..", and without reading the disk.
void normalise(std::string& path, const std::string& here) {
  path = std::filesystem::path(path.starts_with('/') ? path : join_path(here, path)).lexically_normal().string();
}

// Fills in device, inode and links as a walk does. Returns the reason if the file has changed or cannot be read.
std::optional<std::string> check_listed_file(FileEntry& file) {
  const auto state = state_of(file.path);
  if (!state) return state.error().what;
  if (!state->regular || state->size != file.size || state->mtime_ns != file.mtime_ns)
    return "it has changed since it was listed";
  file.device = state->device;
  file.inode = state->inode;
  // At least 2, since a folder replaced by a link gives a file more names than it has links.
  file.links = std::max<std::uint64_t>(state->links, 2);
  return std::nullopt;
}

// Returns the files of the inventory in the folders, under the names that a walk would give them.
WalkResult listed_files(const DedupeOptions& options, InventoryCheck inventory_check) {
  WalkResult found = read_inventory(options.inventory).or_throw();
  const std::string here = real_path(".").value_or(".");
  for (FileEntry& file : found.files) normalise(file.path, here);
  for (Error& error : found.unreadable) normalise(error.subject, here);
  const std::vector<std::string> roots = roots_of(options);
  const auto elsewhere = [&](const std::string& path) {
    return std::none_of(roots.begin(), roots.end(), [&](const std::string& root) { return is_inside(path, root); });
  };
  std::erase_if(found.files, [&](const FileEntry& file) { return elsewhere(file.path); });
  std::erase_if(found.unreadable, [&](const Error& error) { return elsewhere(error.subject); });
  for (const std::string& root : roots) {
    const bool some = std::any_of(found.files.begin(), found.files.end(),
                                  [&](const FileEntry& file) { return is_inside(file.path, root); });
    if (some) continue;
    throw Failure(ErrorCode::usage, fmt::format("the inventory lists no file in {}", escape_unprintable(root)),
                  "--inventory", "add the files of that folder to the inventory, or leave the folder out");
  }
  const auto before = [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; };
  std::sort(found.files.begin(), found.files.end(), before);
  const auto twice = std::unique(found.files.begin(), found.files.end(),
                                 [](const FileEntry& a, const FileEntry& b) { return a.path == b.path; });
  found.files.erase(twice, found.files.end());
  if (inventory_check == InventoryCheck::trusted) return found;
  std::vector<FileEntry> there;
  for (FileEntry& file : found.files) {
    if (auto why = check_listed_file(file)) {
      found.unreadable.push_back({ErrorCode::conflict, *std::move(why), std::move(file.path), ""});
    } else {
      there.push_back(std::move(file));
    }
  }
  found.files = std::move(there);
  return found;
}

ImageFormat format_by_content(const std::string& path) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  return file ? sniff_format((*file)->peek(), path) : ImageFormat::unknown;
}

// True if the first bytes are of a supported picture format, whatever the name. TIFF is excluded, since most RAW
// formats begin like TIFF and only their names tell: the first picture in such a file is its thumbnail.
bool may_be_read(const std::string& path) {
  const ImageFormat format = format_by_content(path);
  return format != ImageFormat::unknown && format != ImageFormat::tiff;
}

}  // namespace

CatalogKey catalog_key() {
  return {fmt::format("hashes {} upright, decoders {}, reduced to {}, thumbnails {}", kHashVersion, kDecoderVersion,
                      kMinDecodedSide, kThumbnailSide),
          fmt::format("alike {}", kVerifierVersion)};  // the word that existing catalogs hold
}

std::string catalog_path(const std::string& named) { return named.empty() ? data_path("catalog.sqlite") : named; }

CatalogAccess make_catalog_access(const RunContext& context, Trust trust) {
  return {trust, [&context] { return context.cancel.cancelled(); }};
}

std::vector<std::string> resolve_folders(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    auto real = real_path(folder);
    if (!real) {
      Error error = system_error("cannot open the folder", escape_unprintable(folder), errno);
      error.code = ErrorCode::usage;
      error.remedy = "check the name";
      throw Failure(error);
    }
    out.push_back(*std::move(real));
  }
  return out;
}

std::vector<std::string> roots_of(const DedupeOptions& options) {
  std::vector<std::string> roots = options.folders;
  roots.insert(roots.end(), options.reference.begin(), options.reference.end());
  return resolve_folders(roots);
}

std::pair<std::uint32_t, std::uint32_t> find_picture_range(const std::vector<LibraryPicture>& pictures,
                                                           const ContentHash& content) {
  const auto first = std::lower_bound(pictures.begin(), pictures.end(), content,
                                      [](const LibraryPicture& p, const ContentHash& c) { return p.data.content < c; });
  auto last = first;
  while (last != pictures.end() && last->data.content == content) ++last;
  return {static_cast<std::uint32_t>(first - pictures.begin()), static_cast<std::uint32_t>(last - pictures.begin())};
}

bool is_input(const std::string& path) {
  return has_picture_extension(path) || can_be_companion(path) || format_by_content(path) != ImageFormat::unknown;
}

Library walk_library(const DedupeOptions& options, const RunContext& context, InventoryCheck inventory_check) {
  const std::vector<std::string> references = resolve_folders(options.reference);
  WalkResult found = options.inventory.empty() ? find_files(roots_of(options), options.files, context)
                                               : listed_files(options, inventory_check);

  Library library;
  for (const Error& error : found.unreadable) library.unreadable.push_back({error.subject, error.what});
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> linked;
  for (FileEntry& entry : found.files) {
    const bool accompanies = !has_picture_extension(entry.path) && can_be_companion(entry.path);
    if (accompanies) {
      library.others.push_back(std::move(entry.path));
      continue;
    }
    if (!has_picture_extension(entry.path) && !(options.all_files && may_be_read(entry.path))) {
      library.unsupported_files.add(entry.path);
      continue;
    }
    // An empty picture file is a sign of data loss, so it is reported whatever the minimum size.
    if (entry.size == 0) library.unreadable.push_back({entry.path, "the file is empty"});
    if (entry.size == 0 || entry.size < options.min_size.count) continue;
    if (auto reason = check_file_size(entry, options.files.max_size)) {
      library.unreadable.push_back({entry.path, std::move(*reason)});
      continue;
    }
    if (entry.links > 1) {
      const auto [at, first] = linked.try_emplace({entry.device, entry.inode}, library.files.size());
      if (!first) {
        library.files[at->second].hard_links.push_back(std::move(entry.path));
        continue;
      }
    }
    LibraryFile file;
    file.reference = std::any_of(references.begin(), references.end(),
                                 [&](const std::string& folder) { return is_inside(entry.path, folder); });
    const auto pattern = std::find_if(options.prefer.begin(), options.prefer.end(),
                                      [&](const std::string& glob) { return glob_match_inside(glob, entry.path); });
    if (pattern != options.prefer.end()) file.preferred = static_cast<std::uint32_t>(pattern - options.prefer.begin());
    library.bytes += entry.size;
    file.entry = std::move(entry);
    library.files.push_back(std::move(file));
  }
  return library;
}

}  // namespace millrace::dedupe
