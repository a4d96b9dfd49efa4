// Input: a file.
// Output: the catalog's record of it: hashes, metadata and a thumbnail, or the reason why it cannot be used.
// Never: decodes a content that the catalog has, or that another file of this run has.
#pragma once

#include <memory>
#include <set>

#include "src/base/mutex.h"
#include "src/io/image/fingerprint.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"

namespace millrace::dedupe {

// Length of a thumbnail's longer side in pixels, and the largest size of its JPEG in bytes.
// docs/design/similarity.md gives the reasons for the constants of this file.
inline constexpr int kThumbnailSide = 128;
inline constexpr std::size_t kMaxThumbnailBytes = 4096;
// The largest hash input is phash's 32 x 32. A shorter side of eight times that keeps hashes within a bit or two of a
// full decode.
inline constexpr int kMinDecodedSide = 256;

struct FileReadResult {
  std::size_t file = 0;
  std::optional<Error> error;  // an error of the file itself
  ContentHash content{};
  bool has_picture = false;  // true if `picture` was decoded now; otherwise the catalog or another file has it
  CatalogPicture picture;
  std::vector<std::uint8_t> thumbnail;
};

// Returns a hash of all that the rule and the verifier compare of a picture: its thumbnail as JPEG, and its codes.
std::uint64_t compute_thumbnail_digest(std::vector<std::uint8_t> thumbnail, const ThumbnailCodes& codes);

// True if an earlier run's record of a picture is not used. A decoded picture over this run's limit is read again, so
// that it gets the same result as without a catalog. A failed picture is tried again with --retry.
bool is_read_again(const CatalogPicture& picture, const DedupeOptions& options);

// Records that a picture could not be decoded under this name.
void mark_failed(CatalogPicture& picture, const std::string& path, ErrorCode code, const std::string& reason);
// True if the name is of another kind (RAW or not) than the one under which decoding failed.
bool can_retry_decoding(const CatalogPicture& failed, const std::string& path);

// Reads a file, and decodes it whatever the catalog has.
class PictureReader {
 public:
  PictureReader(const DedupeOptions& options, RunContext& context);

  // Returns Error(conflict) if `must_be` is set and the size or time differs from the entry. Thread-safe.
  std::unique_ptr<FileReadResult> read(const FileEntry& entry, bool must_be, Span& span) const;

 private:
  RunContext& context_;
  FingerprintOptions wanted_;
  std::function<bool()> cancelled_;
};

// Returns the catalog record of a file with this content.
CatalogFile make_catalog_file(const FileEntry& entry, const ContentHash& content);
// Writes the result of reading a file for later runs. Temporary failures are not written: missing files, and failures
// that come from this run's limits or machine.
void store_read_result(Catalog& catalog, const FileEntry& entry, FileReadResult read);

class LibraryReader {
 public:
  LibraryReader(const DedupeOptions& options, Catalog& catalog, RunContext& context,
                const std::vector<LibraryFile>& files);

  // `twins` is true if another file, in this run or in the catalog, has the same size; then the bytes are hashed before
  // anything is decoded. Thread-safe.
  std::unique_ptr<FileReadResult> read(std::size_t index, bool twins, Span& span);
  // Reads and decodes the file whatever the catalog has of its content.
  std::unique_ptr<FileReadResult> decode(std::size_t index, Span& span);

 private:
  bool claim(const ContentHash& content, const std::string& path);

  const DedupeOptions& options_;
  Catalog& catalog_;
  RunContext& context_;
  const std::vector<LibraryFile>& files_;
  const PictureReader pictures_;
  Mutex mutex_;
  std::set<ContentHash> claimed_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::dedupe
