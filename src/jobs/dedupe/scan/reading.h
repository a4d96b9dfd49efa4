// Input: one file.
// Output: what the catalogue keeps of it: hashes, facts and a thumbnail, or why it cannot be used.
// Never: decodes a content that the catalogue knows, or that another file of this run has.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "src/io/image/fingerprint.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"

namespace millrace::dedupe {

// Pixels on a thumbnail's longer side, and the most bytes of it as a JPEG.
inline constexpr int kThumbnailSide = 128;
inline constexpr std::size_t kThumbnailBytes = 4096;
// The largest target is phash's 32 x 32; eight times that keeps hashes within a bit or two of a full decode.
inline constexpr int kShortestSide = 256;

struct Read {
  std::size_t file = 0;
  std::optional<Error> error;  // of the file itself
  ContentHash content{};
  bool has_picture = false;  // `picture` was made now; otherwise it is known, or another file's
  CatalogPicture picture;
  std::vector<std::uint8_t> thumbnail;
};

// What the rule and the verifier see of a picture, as one number: its thumbnail as JPEG and its codes.
std::uint64_t appearance_of(std::vector<std::uint8_t> thumbnail, const ThumbnailCodes& codes);

// True when what an earlier run says of a picture is not taken: one that was decoded is over this run's limit, so that
// what is said of it is what a run that knows nothing says; one that could not be is tried again with --retry.
bool is_read_again(const CatalogPicture& picture, const Options& options);

// Of a picture that could not be decoded under a name.
void mark_failed(CatalogPicture& picture, const std::string& path, ErrorCode code, const std::string& reason);
// A name of another kind than the one under which it failed: it may be decoded under this one.
bool may_be_decoded(const CatalogPicture& failed, const std::string& path);

// Reads a file, and decodes it whatever is known of its content.
class PictureReader {
 public:
  PictureReader(const Options& options, RunContext& context);

  // Error(conflict) where `must_be` is set and it has another size or time. Thread-safe.
  std::unique_ptr<Read> read(const FileEntry& entry, bool must_be, Span& span) const;

 private:
  RunContext& context_;
  FingerprintOptions wanted_;
  std::function<bool()> cancelled_;
};

// The catalog record of a file with this content.
CatalogFile record_of(const FileEntry& entry, const ContentHash& content);
// What a file that was read says to every later run: not what is passing, as what was not there, or what tells more of
// this run, its limits and its machine.
void keep(Catalog& catalog, const FileEntry& entry, Read read);

class Reader {
 public:
  Reader(const Options& options, Catalog& catalog, RunContext& context, const std::vector<File>& files);

  // `twins`: another file, here or in the catalogue, has the same size, so the bytes are hashed before anything is
  // decoded. Thread-safe.
  std::unique_ptr<Read> read(std::size_t index, bool twins, Span& span);
  // The same, and decoded whatever is known of its content.
  std::unique_ptr<Read> decode(std::size_t index, Span& span);

 private:
  bool claim(const ContentHash& content, const std::string& path);

  const Options& options_;
  Catalog& catalog_;
  RunContext& context_;
  const std::vector<File>& files_;
  const PictureReader pictures_;
  std::mutex mutex_;
  std::set<ContentHash> claimed_;
};

}  // namespace millrace::dedupe
