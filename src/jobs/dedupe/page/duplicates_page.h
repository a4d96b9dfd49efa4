// Input: the groups that a search found: names, sizes, reasons, small JPEGs.
// Output: one HTML page without network access, on which a person decides and saves decisions.json.
// Never: opens a picture, deletes a file, writes the time of day, or leaves an incomplete page behind.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/base/sizes.h"
#include "src/io/output/output.h"
#include "src/jobs/dedupe/group_kind.h"

namespace millrace::dedupe {

// File of a group. Texts that are not UTF-8 are shown with U+FFFD in place of the bad bytes.
struct PageMember {
  // Path for display, in UTF-8. If it is not UTF-8, the page derives path_base64 by itself.
  std::string path;
  // Path in Base64, only if its bytes are not UTF-8; else empty.
  std::string path_base64;
  // Size of the file in bytes.
  std::uint64_t size = 0;
  // Sides in pixels, as the picture is shown after its orientation is applied; 0: not known.
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  // Time of the last change in nanoseconds since 1970. Written as text, since a JavaScript number cannot hold it
  // exactly.
  std::int64_t mtime_ns = 0;
  // Capture date in EXIF format; if empty, the page shows the last change.
  std::string date;
  // Maker and model from EXIF; may be empty.
  std::string camera;
  // Lower-case hex of the content hash, against which a decision is checked.
  std::string hash;
  // Scores of the data that people added (stars, keywords, names, place: origins.h) and of the EXIF fields; higher
  // means more.
  int user_metadata_score = 0, exif = 0;
  // Holdings besides the picture that was compared: "film", "pages"; usually empty.
  std::vector<std::string> holds;
  // True if the detailed check found that the group's first member is removable in favour of this one.
  bool is_interchangeable = false;
  // True if only a part could be decoded.
  bool damaged = false;
  // True in a protected folder: the page never marks the file for removal.
  bool reference = false;
  // Suggestion to keep the file. A group may have several such members, or none.
  bool keep = false;
  // Reason of the suggestion: "largest, oldest date"; may be empty.
  std::string why;
  // Properties in which a removable member is better than this kept one; may be empty.
  std::string warning;
  // For an altered picture: the place that differs from the group's other picture, in shares of its sides: left, top,
  // right, bottom. Marked on its thumbnail unless empty.
  std::array<float, 4> place{};
  // Paths of the files that belong to it: sidecars, RAW, Live Photo video.
  std::vector<std::string> companions;
  // Bytes of a JPEG, with a long side of at most the header's preview_side; empty: none.
  std::string thumb;
};

// Relation of two members of the group.
struct PagePair {
  std::uint32_t a = 0;  // index into members
  std::uint32_t b = 0;
  double score = 0;                      // 0 to 1, higher is more similar; NaN: not known
  std::map<std::string, int> distances;  // by name of the hash: {"dhash": 3}
};

struct PageGroup {
  std::string id;  // unique on the page and the same in every run over the same files
  GroupKind kind = GroupKind::similar;
  std::vector<PageMember> members;
  std::vector<PagePair> pairs;  // may be empty (identical files have no distances) or incomplete
};

struct PageUnreadable {
  std::string path;
  std::string reason;
};

// Contents of the page's header. The numbers are shown as given, not counted again.
struct PageHeader {
  std::string title;                                // of the page and of its window
  std::vector<std::string> folders;                 // the folders that were searched
  std::uint64_t files = 0;                          // number of files found
  std::uint64_t pictures = 0;                       // number of pictures read
  std::uint64_t groups = 0;                         // number of groups
  std::uint64_t reclaimable = 0;                    // bytes that are freed if every suggestion is accepted
  std::vector<PageUnreadable> unreadable, damaged;  // damaged: only a part could be decoded
  int preview_side = 128;                           // longest side of a picture on the page, in pixels
  std::string rule;  // one or two sentences: how pictures are compared, and which ones are kept
};

// Output kind of a page that this program or an earlier version wrote; only its owner may read it.
OutputKind page_kind();

// Writes the page as groups arrive, so memory holds one group. The data goes to temporary names beside the output.
// finish() syncs and renames; before that, and after any failure, no part of the page is visible.
//
// Thumbnails are written into the page while their bytes stay within `inline_limit`. The group that would exceed it and
// all later ones go to the folder PATH.thumbs as 0000/000000.jpg, a thousand per folder. A folder of that name from an
// earlier page is replaced; one with other contents is a conflict. For a pipe or a device, all thumbnails are written
// into the page.
//
// Failures: io and not_found when the system refuses, conflict as above, internal for a pair that names no member.
// After a failure the object can only be destroyed.
class DuplicatesPage {
 public:
  // With the data of a hundred thousand pictures this makes a page of 64 MiB.
  static constexpr Bytes kInlineLimit{44'000'000};

  DuplicatesPage(const OutputTarget& output, const PageHeader& header, Bytes inline_limit = kInlineLimit);
  ~DuplicatesPage();
  DuplicatesPage(const DuplicatesPage&) = delete;
  DuplicatesPage& operator=(const DuplicatesPage&) = delete;

  void add_group(const PageGroup& group);
  void finish();

  // Throws Failure(conflict) if other contents have the name of the folder that a large page keeps beside it.
  static void verify_thumbs_folder(const OutputTarget& output);
  // Returns that name.
  static std::string thumbs_folder(const OutputTarget& output) { return output.path() + ".thumbs"; }

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace millrace::dedupe
