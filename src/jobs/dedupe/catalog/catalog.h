// Input: what a run learnt about files and their contents.
// Output: the same at the next run, so that only what changed is read again.
// Never: forgets a drive that is not plugged in; trusts an inode; keeps a failure for a hash.
//
// One SQLite file in WAL mode: a killed run loses at most what it had not flushed, and two runs may share it. Files are
// keyed by path bytes, what is known of a picture by its content hash, so a moved or copied file is known by its bytes;
// and what follows from its thumbnail and its hashes by the hash of these, its appearance: twenty thousand blank
// pictures are one.
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
#include "src/io/file/own.h"
#include "src/io/file/reader.h"
#include "src/io/image/holding.h"

namespace millrace::dedupe {

// What is known of one path.
struct CatalogFile {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  bool failed = false;  // it could not be read; `reason` says why
  ErrorCode code{};
  std::string reason;
  ContentHash content{};  // when it could
  // Both tell of a file that was exchanged or written to with its size and mtime kept. 0: not known, as
  // of files that another machine has read.
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;
};

// What is known of one content, whatever it is called.
struct CatalogPicture {
  ContentHash content{};
  bool failed = false;  // not a picture that decodes; `reason` says why
  ErrorCode code{};
  std::string reason;
  std::string damage;         // not empty: it displays, but part of it is missing
  int format = 0;             // ImageFormat; of one that failed, raw where its name made it one
  int width = 0, height = 0;  // upright
  int quality = 0;
  std::array<std::uint64_t, 6> codes{};  // 64-bit hashes; their meaning is the caller's, and part of its key
  std::string taken, subsecond, camera;
  int exif_fields = 0;
  std::uint64_t appearance =
      0;  // hash of the thumbnail's bytes and the codes: equal appearances cannot be told apart by them
  std::optional<Unshown> unshown{};  // nothing: an earlier program read it
};

// What a score can be; NaN is none.
constexpr bool is_score(float score) { return score >= 0 && score <= 1; }

// The judgement of two appearances by their pixels, the second turned by `orientation`. `a` < `b`.
struct CatalogScore {
  std::uint64_t a = 0, b = 0;
  std::uint8_t orientation = 1;  // EXIF's number, 1 is as it is
  std::uint8_t kind = 0;         // as src/kernels/similarity numbers them
  float score = 0;
};

// Two appearances that a rule brought together and whose pixels agreed. `a` < `b`.
struct CatalogLink {
  std::uint64_t a = 0, b = 0;
  std::uint8_t kind = 0;  // as src/kernels/similarity numbers them
  float score = 0;
};

// What a close look at two contents found. `a` < `b`; what the verdict says is its maker's, by its version.
struct CatalogCloseLook {
  static constexpr std::size_t kMostBytes = 200;
  ContentHash a{}, b{};
  std::uint32_t version = 0;
  std::vector<std::uint8_t> verdict;
};

// What a content says about its origin; what `told` means is its maker's, by its version.
struct CatalogOrigin {
  static constexpr std::size_t kMostBytes = 16384;
  ContentHash content{};
  std::uint32_t version = 0;
  std::vector<std::uint8_t> told;
};

// A content as a page shows it: larger than its thumbnail.
struct CatalogPreview {
  ContentHash content{};
  std::vector<std::uint8_t> jpeg;
};

// The appearances that earlier runs compared with one another under one rule, and what came of it.
struct CatalogJoin {
  std::vector<std::vector<std::uint8_t>> parts;  // what put_joined() was given, in its order
  std::vector<CatalogLink> links;
};

// By which program what is kept was found: what another one found differently is dropped, files stay.
struct CatalogKey {
  std::string pictures;  // how they are decoded, hashed and reduced; under another key nothing of them is kept
  std::string verdicts;  // how their appearances are compared; under another key scores, links and what is joined go
};

// How a catalogue is opened.
struct CatalogAccess {
  Trust trust = Trust::checked;
  std::function<bool()> cancelled{};  // asked while SQLite works; what it does then ends with Failure(cancelled)
};

// A file that begins like one that this program made.
bool is_catalog(const std::string& path);
// The file, and what SQLite keeps beside it.
std::vector<std::string> catalog_files(const std::string& path);

class Catalog {
 public:
  // Opens or makes the file and its folder; what is made is its owner's alone. Failure(conflict) when a newer program
  // made it, or when it, its folder or what SQLite keeps beside it is not believed (own.h); Failure(bad_data) when it
  // is not a catalogue, Failure(usage) for SQLite's ":memory:".
  Catalog(const std::string& path, const CatalogKey& key, const CatalogAccess& access = {});
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // The readers up to picture() are thread-safe: each call reads what was last flushed through a connection of its
  // own. The files whose path is at least `from` and below `to`, in the order of their path bytes; the object is used
  // again for the next one.
  void each_file(std::string_view from, std::string_view to, const std::function<void(const CatalogFile&)>& visit);
  // What is known of one path.
  std::optional<CatalogFile> file(std::string_view path);
  // The size of each file that could be read, in no order.
  void each_size(const std::function<void(std::uint64_t)>& visit);
  // Those of the pictures `wanted` (sorted) that are known, in the order of their content; all of them without.
  void each_picture(std::optional<std::span<const ContentHash>> wanted,
                    const std::function<void(CatalogPicture&)>& visit);
  std::optional<CatalogPicture> picture(const ContentHash& content);
  std::optional<std::vector<std::uint8_t>> thumbnail(std::uint64_t appearance);
  std::optional<std::vector<std::uint8_t>> preview(const ContentHash& content);
  std::vector<CatalogScore> scores();
  std::optional<CatalogOrigin> origin(const ContentHash& content);
  std::optional<CatalogCloseLook> close_look(const ContentHash& a, const ContentHash& b);
  std::vector<std::pair<ContentHash, ContentHash>> not_duplicates();

  // Written at the next flush(), in one transaction. Not thread-safe: one thread writes.
  void put(CatalogFile file);
  void put(CatalogPicture picture, std::vector<std::uint8_t> thumbnail);
  void put(std::span<const CatalogScore> scores);
  void put(CatalogCloseLook look);
  void put(CatalogOrigin origin);
  void put_not_duplicates(const ContentHash& a, const ContentHash& b);
  void drop_not_duplicates(const ContentHash& a, const ContentHash& b);
  // What is known of a path is not so.
  void forget(std::string path);
  // Files came into it that this program has not read here: what equal hashes say of them is confirmed by their bytes
  // first. Written at once.
  bool copies_unconfirmed();
  void put_copies_unconfirmed(bool unconfirmed);
  // Flushes when a second has passed since the last one.
  void flush_now_and_then();
  void flush();

  // Written at once.
  void put_previews(std::span<const CatalogPreview> previews);

  // All that put_joined() was given under this rule. Where a row of it was lost or edited since, what is joined under
  // the rule is forgotten, and nothing comes back: who believes in the rest would miss pairs without a word.
  CatalogJoin joined(std::uint64_t rule);
  // Part number `at` of what is joined under a rule, with the links between its appearances and all before, written
  // whole and at once. False, and nothing written, when another run put a part there first: what is in that one was not
  // compared with this. `codes` are kept beside the part and read by themselves: those of a million pictures are a
  // gigabyte.
  bool put_joined(std::uint64_t rule, std::size_t at, std::span<const std::uint8_t> part,
                  std::span<const CatalogLink> links, std::span<const std::uint8_t> codes = {});
  // Nothing where there are none of just this size, or not those that were put there.
  std::vector<std::uint8_t> joined_codes(std::uint64_t rule, std::size_t at, std::size_t size);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace millrace::dedupe
