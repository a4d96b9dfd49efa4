// Input: folders, and a catalog from earlier runs.
// Output: all files and the pictures that they hold; each picture is decoded at most once in the life of a catalog.
// Never: compares pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/io/file/walk.h"
#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/options.h"
#include "src/jobs/dedupe/scan/unsupported_files.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct LibraryFile {
  FileEntry entry;
  std::uint32_t picture = kNone;  // index into Library::pictures
  bool reference = false;
  bool fresh = false;                   // true if read in this run
  std::vector<std::string> hard_links;  // other names of the same file
  std::vector<std::string> companions;  // its asset's other files (assets.h)
  bool has_raw = false;                 // the asset holds a RAW file
  bool has_video = false;
  std::uint32_t preferred = kNone;  // number of the first pattern of --prefer that the path matches
  std::uint32_t album = 0;          // albums.h
};

struct LibraryPicture {
  CatalogPicture data;
  std::vector<std::uint32_t> files;  // in path order
  std::uint32_t album = 0;           // album of all files, where pictures are split by album
};

struct UnreadableFile {
  std::string path;
  std::string reason;
};

struct Library {
  std::vector<LibraryFile> files;        // pictures' files only, sorted by path
  std::vector<LibraryPicture> pictures;  // sorted by content, so that no index depends on the order of files
  std::vector<UnreadableFile> unreadable;
  std::vector<std::string> others;  // video and sidecars that may belong to an asset
  std::set<std::string> videos;     // the videos among `others` that accompany no picture
  UnsupportedFiles
      unsupported_files;  // files of other kinds, and recordings that accompany no picture, once find_assets() has run
  std::uint64_t bytes = 0;      // of all picture files
  std::uint64_t decoded = 0;    // pictures decoded in this run
  std::uint64_t unchanged = 0;  // files unchanged since the catalog recorded them
};

// Returns the versions of decoding and comparison. Rows that the catalog keeps under another key are not used.
CatalogKey catalog_key();

// Returns the path of the catalog: the default one if none is named.
std::string catalog_path(const std::string& named);

// Returns access options under which the catalog's work ends when the job is cancelled.
CatalogAccess make_catalog_access(const RunContext& context, Trust trust);

// Returns the folders as absolute paths without links. Throws Failure(usage) for a folder that does not exist.
std::vector<std::string> resolve_folders(const std::vector<std::string>& folders);
// Returns all folders that a run walks: the folders, then the references.
std::vector<std::string> roots_of(const DedupeOptions& options);

// Returns the index range [first, second) of a content among pictures sorted by content: one, none, or several where
// pictures are split by albums.
std::pair<std::uint32_t, std::uint32_t> find_picture_range(const std::vector<LibraryPicture>& pictures,
                                                           const ContentHash& content);

// True for a file that a run reads or that moves with its picture, by its name or by its first bytes.
bool is_input(const std::string& path);

// Walks the folders, and sorts the files into pictures and possible companions. Files of an inventory are checked on
// disk (`on_disk`), or taken as listed (`trusted`) if the caller opens each of them and sees changes then.
enum class InventoryCheck : std::uint8_t { on_disk, trusted };
Library walk_library(const DedupeOptions& options, const RunContext& context,
                     InventoryCheck inventory_check = InventoryCheck::on_disk);

// True if the file matches its catalog record: size and mtime are equal, and so are inode and ctime if both sides have
// them. A file that was replaced by another of its size and mtime does not match.
bool is_unchanged(const FileEntry& file, const CatalogFile& known);

// Visits the catalog's records of a folder in the order of path bytes: paths from `from` on, and below `to` unless it
// is empty.
void for_each_catalog_file(Catalog& catalog, const std::string& root, const std::string& from, const std::string& to,
                           const std::function<void(const CatalogFile&)>& visit);

// Walks the folders, reads and decodes new files, and writes them to the catalog once a second. `walked` receives the
// files before the catalog is queried.
Library scan_library(const DedupeOptions& options, Catalog& catalog, RunContext& context,
                     const std::function<void(const std::vector<LibraryFile>&)>& walked = {});

}  // namespace millrace::dedupe
