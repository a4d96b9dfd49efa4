// Input: facts that a run learnt about files and their contents.
// Output: the same facts at the next run, so that only changed files are read again.
// Never: forgets the files of a drive that is not mounted; identifies a file by its inode alone; records a failure as
// if it were a hash.
//
// The catalog is one SQLite file in WAL mode. A killed run loses at most what it had not flushed, and two runs may
// share the file. Rows of files are keyed by path bytes, rows of pictures by content hash; so a moved or copied file is
// recognised by its bytes. Rows that follow from a picture's thumbnail and codes are keyed by the hash of these, its
// appearance: twenty thousand blank pictures share one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/trusted_file.h"
#include "src/io/image/extra_data.h"

namespace millrace::dedupe {

// Record of one path.
struct CatalogFile {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  bool failed = false;  // the file could not be read; `reason` says why
  ErrorCode code{};
  std::string reason;
  ContentHash content{};  // only if the file could be read
  // Inode and change time reveal a file that was replaced or written to with its size and mtime kept. 0: not known, as
  // of files that another machine has read.
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;
};

// Record of one content, whatever the names of its files.
struct CatalogPicture {
  ContentHash content{};
  bool failed = false;  // the content does not decode as a picture; `reason` says why
  ErrorCode code{};
  std::string reason;
  std::string damage;         // not empty: the picture decodes, but part of it is missing
  int format = 0;             // an ImageFormat; for a failed picture, `raw` if the file's name was that of a RAW file
  int width = 0, height = 0;  // upright
  int quality = 0;
  std::array<std::uint64_t, 6> codes{};  // 64-bit hashes; the caller defines their meaning, as part of its key
  std::string taken, subsecond, camera;
  int exif_fields = 0;
  std::uint64_t thumbnail_digest =
      0;  // hash of the thumbnail's bytes and the codes; pictures with equal digests have equal thumbnails and codes
  std::optional<UnshownData> unshown{};  // nullopt: an earlier version of the program read it
};

// True for a valid score; false for NaN.
constexpr bool is_valid_score(float score) { return score >= 0 && score <= 1; }

// Judgement of two appearances by their pixels, with the second rotated or mirrored by `orientation`. `a` < `b`.
struct CatalogScore {
  std::uint64_t a = 0, b = 0;
  std::uint8_t orientation = 1;  // EXIF number; 1 is upright
  std::uint8_t kind = 0;         // as src/kernels/similarity numbers them
  float score = 0;
};

// Two appearances that satisfy a rule and whose pixels match. `a` < `b`.
struct CatalogLink {
  std::uint64_t a = 0, b = 0;
  std::uint8_t kind = 0;  // as src/kernels/similarity numbers them
  float score = 0;
};

// Result of the detailed check of two contents. `a` < `b`. The caller defines the verdict's format by its version.
struct CatalogComparison {
  static constexpr std::size_t kMaxBytes = 200;
  ContentHash a{}, b{};
  std::uint32_t version = 0;
  std::vector<std::uint8_t> verdict;
};

// Information on a content's origin. The caller defines the format of `provenance` by its version.
struct CatalogOrigin {
  static constexpr std::size_t kMaxBytes = 16384;
  ContentHash content{};
  std::uint32_t version = 0;
  std::vector<std::uint8_t> provenance;
};

// Preview of a content for a page, larger than its thumbnail.
struct CatalogPreview {
  ContentHash content{};
  std::vector<std::uint8_t> jpeg;
};

// Appearances that earlier runs compared with one another under one rule, and the resulting links.
struct ComparedAppearances {
  std::vector<std::vector<std::uint8_t>> parts;  // batches as given to put_compared_appearances(), in the same order
  std::vector<CatalogLink> links;
};

// Versions of the code that produced the rows. Rows that another version produced differently are dropped; files are
// kept.
struct CatalogKey {
  std::string pictures;  // how pictures are decoded, hashed and reduced; if it differs, all their rows are dropped
  std::string verdicts;  // how appearances are compared; if it differs, scores, links and batches are dropped
};

// Options for opening a catalog.
struct CatalogAccess {
  Trust trust = Trust::checked;
  std::function<bool()> cancelled{};  // called while SQLite works; if true, that work ends with Failure(cancelled)
};

// True for a file that begins like one of this program's catalogs.
bool is_catalog(const std::string& path);
// Paths of the catalog and of the files that SQLite keeps beside it.
std::vector<std::string> catalog_files(const std::string& path);

class Catalog {
 public:
  // Opens or creates the file and its folder; created ones are private to their owner. Throws Failure(conflict) when a
  // newer program made the catalog. The same when the file, its folder or SQLite's files beside it are not trusted
  // (trusted_file.h). Throws Failure(bad_data) when it is not a catalog, and Failure(usage) for SQLite's ":memory:".
  Catalog(const std::string& path, const CatalogKey& key, const CatalogAccess& access = {});
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // The readers up to picture() are thread-safe: they read the last flushed state, through connections of their own.
  // for_each_file() visits the files with `from` <= path < `to`, in the order of path bytes. It reuses one object for
  // all visits.
  void for_each_file(std::string_view from, std::string_view to, const std::function<void(const CatalogFile&)>& visit);
  // Returns the record of one path.
  std::optional<CatalogFile> file(std::string_view path);
  // The size of each file that could be read, in no order.
  void for_each_size(const std::function<void(std::uint64_t)>& visit);
  // Visits the pictures in `wanted` (sorted) that the catalog has, in the order of their content; all pictures if
  // nullopt.
  void for_each_picture(std::optional<std::span<const ContentHash>> wanted,
                        const std::function<void(CatalogPicture&)>& visit);
  std::optional<CatalogPicture> picture(const ContentHash& content);
  std::optional<std::vector<std::uint8_t>> thumbnail(std::uint64_t thumbnail_digest);
  std::optional<std::vector<std::uint8_t>> preview(const ContentHash& content);
  std::vector<CatalogScore> scores();
  std::optional<CatalogOrigin> origin(const ContentHash& content);
  std::optional<CatalogComparison> comparison(const ContentHash& a, const ContentHash& b);
  std::vector<std::pair<ContentHash, ContentHash>> confirmed_distinct();

  // The writers take effect at the next flush(), in one transaction. Not thread-safe: only one thread writes.
  void put(CatalogFile file);
  void put(CatalogPicture picture, std::vector<std::uint8_t> thumbnail);
  void put(std::span<const CatalogScore> scores);
  void put(CatalogComparison comparison);
  void put(CatalogOrigin origin);
  void put_confirmed_distinct(const ContentHash& a, const ContentHash& b);
  void drop_confirmed_distinct(const ContentHash& a, const ContentHash& b);
  // Drops the record of a path.
  void drop_file(std::string path);
  // True if the catalog holds files that this program has not read on this machine. Their equal hashes must then be
  // confirmed by comparing bytes. The setter writes at once.
  bool has_unconfirmed_copies();
  void put_unconfirmed_copies(bool unconfirmed);
  // Flushes if a second has passed since the last flush.
  void flush_periodically();
  void flush();

  // Writes at once.
  void put_previews(std::span<const CatalogPreview> previews);

  // Returns all that put_compared_appearances() was given under this rule. If a row was lost or edited since, drops
  // everything under the rule and returns nothing: a caller that trusted the rest would silently miss pairs.
  ComparedAppearances compared_appearances(std::uint64_t rule);
  // Writes batch number `at` under a rule, with the links between its appearances and all earlier ones, in one
  // transaction. Returns false, and writes nothing, when another run wrote a batch first: the appearances of that one
  // were not compared with these. `codes` are stored beside the batch and read separately: those of a million pictures
  // are a gigabyte.
  bool put_compared_appearances(std::uint64_t rule, std::size_t at, std::span<const std::uint8_t> part,
                                std::span<const CatalogLink> links, std::span<const std::uint8_t> codes = {});
  // Returns the codes of a batch; empty if there are none of exactly this size with the right checksum.
  std::vector<std::uint8_t> compared_codes(std::uint64_t rule, std::size_t at, std::size_t size);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace millrace::dedupe
