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
#include "src/jobs/dedupe/scan/not_read.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct File {
  FileEntry entry;
  std::uint32_t picture = kNone;  // index into Library::pictures
  bool reference = false;
  bool fresh = false;                   // true if read in this run
  std::vector<std::string> hard_links;  // other names of the same file
  std::vector<std::string> companions;  // its asset's other files (assets.h)
  bool has_raw = false;                 // the asset holds a RAW file
  bool has_film = false;
  std::uint32_t preferred = kNone;  // number of the first pattern of --prefer that the path matches
  std::uint32_t album = 0;          // albums.h
};

struct Picture {
  CatalogPicture data;
  std::vector<std::uint32_t> files;  // in path order
  std::uint32_t album = 0;           // album of all files, where pictures are split by album
};

struct Unreadable {
  std::string path;
  std::string reason;
};

struct Library {
  std::vector<File> files;        // pictures' files only, sorted by path
  std::vector<Picture> pictures;  // sorted by content, so that no index depends on the order of files
  std::vector<Unreadable> unreadable;
  std::vector<std::string> others;  // video and sidecars that may belong to an asset
  std::set<std::string> films;      // the videos among `others` that accompany no picture
  NotRead not_read;  // files of other kinds, and recordings that accompany no picture, once find_assets() has run
  std::uint64_t bytes = 0;      // of all picture files
  std::uint64_t decoded = 0;    // pictures decoded in this run
  std::uint64_t unchanged = 0;  // files unchanged since the catalog recorded them
};

// Returns the versions of decoding and comparison. Rows that the catalog keeps under another key are not used.
CatalogKey catalog_key();

// Returns the path of the catalog: the default one if none is named.
std::string catalog_file(const std::string& named);

// Returns access options under which the catalog's work ends when the job is cancelled.
CatalogAccess access_for(const RunContext& context, Trust trust);

// Returns the folders as absolute paths without links. Throws Failure(usage) for a folder that does not exist.
std::vector<std::string> absolute_folders(const std::vector<std::string>& folders);
// Returns all folders that a run walks: the folders, then the references.
std::vector<std::string> roots_of(const Options& options);

// Returns the index range [first, second) of a content among pictures sorted by content: one, none, or several where
// pictures are split by albums.
std::pair<std::uint32_t, std::uint32_t> places_of(const std::vector<Picture>& pictures, const ContentHash& content);

// True for a file that a run reads or that moves with its picture, by its name or by its first bytes.
bool is_input(const std::string& path);

// Walks the folders, and sorts the files into pictures and possible companions. Files of an inventory are checked on
// disk (`looked_at`), or taken as listed (`as_it_was`) if the caller opens each of them and sees changes then.
enum class Listed : std::uint8_t { looked_at, as_it_was };
Library walk_library(const Options& options, const RunContext& context, Listed listed = Listed::looked_at);

// True if the file matches its catalog record: size and mtime are equal, and so are inode and ctime if both sides have
// them. A file that was replaced by another of its size and mtime does not match.
bool is_unchanged(const FileEntry& file, const CatalogFile& known);

// Visits the catalog's records of a folder in the order of path bytes: paths from `from` on, and below `to` unless it
// is empty.
void each_known_file(Catalog& catalog, const std::string& root, const std::string& from, const std::string& to,
                     const std::function<void(const CatalogFile&)>& visit);

// Walks the folders, reads and decodes new files, and writes them to the catalog once a second. `walked` receives the
// files before the catalog is queried.
Library scan(const Options& options, Catalog& catalog, RunContext& context,
             const std::function<void(const std::vector<File>&)>& walked = {});

}  // namespace millrace::dedupe
