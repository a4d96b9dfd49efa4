// Input: folders, and a catalogue of what earlier runs saw.
// Output: every file and the picture that it holds, each picture decoded at most once in its life.
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
  bool fresh = false;                   // read in this run
  std::vector<std::string> hard_links;  // other names of the same file
  std::vector<std::string> companions;  // its asset's other files (assets.h)
  bool has_raw = false;                 // the asset holds a RAW file
  bool has_film = false;
  std::uint32_t preferred = kNone;  // the number of the first pattern of --prefer that its path matches
  std::uint32_t album = 0;          // albums.h
};

struct Picture {
  CatalogPicture data;
  std::vector<std::uint32_t> files;  // in path order
  std::uint32_t album = 0;           // of all of them, where pictures are split by it
};

struct Unreadable {
  std::string path;
  std::string reason;
};

struct Library {
  std::vector<File> files;        // pictures' files only, sorted by path
  std::vector<Picture> pictures;  // sorted by content, so that no index depends on the order of files
  std::vector<Unreadable> unreadable;
  std::vector<std::string> others;  // film, sidecars: what may belong to an asset
  std::set<std::string> films;      // of them, what accompanies no picture
  NotRead not_read;                 // neither; and what accompanies no picture, once find_assets() knows
  std::uint64_t bytes = 0;          // of all picture files
  std::uint64_t decoded = 0;        // pictures decoded in this run
  std::uint64_t unchanged = 0;      // files known from the catalogue
};

// What is looked at and how: what a catalogue keeps under another key is not used.
CatalogKey catalog_key();

// The catalogue that is meant: the default one where none is named.
std::string catalog_file(const std::string& named);

// A catalogue whose work ends when the job is told to stop.
CatalogAccess access_for(const RunContext& context, Trust trust);

// The folders as absolute paths without links in them; Failure(usage) for one that is not there.
std::vector<std::string> absolute_folders(const std::vector<std::string>& folders);
// All that a run walks: the folders, then the references.
std::vector<std::string> roots_of(const Options& options);

// The places of a content among pictures that are sorted by it: one, or none; several where they are split by albums.
std::pair<std::uint32_t, std::uint32_t> places_of(const std::vector<Picture>& pictures, const ContentHash& content);

// True for a file that a run reads, or that goes where its picture goes: by its name, or by what it begins with.
bool is_input(const std::string& path);

// Walks, and sorts what was found into picture files and what may accompany them. What an inventory lists is looked at,
// as a walk does, or left as it was listed: who opens each of the files sees what has become of it.
enum class Listed : std::uint8_t { looked_at, as_it_was };
Library walk_library(const Options& options, const RunContext& context, Listed listed = Listed::looked_at);

// The file is what the catalogue knows: of the same size and mtime, and, where both sides know them, of the same inode
// and ctime. A file that was exchanged for another of its size and mtime is not.
bool is_unchanged(const FileEntry& file, const CatalogFile& known);

// Visits what the catalogue knows of a folder, in the order of path bytes: paths from `from` on, and below `to` unless
// it is empty.
void each_known_file(Catalog& catalog, const std::string& root, const std::string& from, const std::string& to,
                     const std::function<void(const CatalogFile&)>& visit);

// Walks, reads and decodes what is new, and writes it to the catalogue once a second. `walked` sees the files before
// the catalogue is asked for them.
Library scan(const Options& options, Catalog& catalog, RunContext& context,
             const std::function<void(const std::vector<File>&)>& walked = {});

}  // namespace millrace::dedupe
