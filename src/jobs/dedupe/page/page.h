// Input: what a search for duplicates found, group by group: names, sizes, reasons, small JPEGs.
// Output: one HTML page without network, where a person decides and saves decisions.json.
// Never: opens a picture, deletes a file, writes the time of day, or leaves half a page behind.
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

// One file of a group. Texts that are not UTF-8 are shown with U+FFFD in place of the bad bytes.
struct PageMember {
  // For people, UTF-8. When it is not UTF-8, the page derives path_base64 by itself.
  std::string path;
  // Base64 of the path's bytes, only where those are not UTF-8; else empty.
  std::string path_base64;
  // Of the file, in bytes.
  std::uint64_t size = 0;
  // In pixels, as the picture is shown, after its orientation; 0: not known.
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  // Last change since 1970, in nanoseconds. Goes out as text: a JavaScript number is too small.
  std::int64_t mtime_ns = 0;
  // Capture date as EXIF writes it; empty: the page shows the last change.
  std::string date;
  // Maker and model from EXIF; may be empty.
  std::string camera;
  // Lower-case hex of the content's hash: a decision is checked against it.
  std::string hash;
  // What people gave it (stars, keywords, names, place: origins.h) and its EXIF fields, as numbers: more is more.
  int given = 0, exif = 0;
  // Holdings besides the picture that was compared: "film", "pages"; mostly none.
  std::vector<std::string> holds;
  // A close look found that the group's first one may go for it as well.
  bool as_good = false;
  // Decoded in part only.
  bool damaged = false;
  // In a protected folder: the page never marks it for removal.
  bool reference = false;
  // The suggestion: this one stays. A group may have several, or none at all.
  bool keep = false;
  // The reason of the suggestion: "largest, oldest date"; may be empty.
  std::string why;
  // In what one that goes is better than this one, which stays; may be empty.
  std::string warning;
  // Of an altered picture: where it differs from the group's other one, in shares of its sides: left, top, right,
  // bottom. Marked on its thumbnail unless empty.
  std::array<float, 4> place{};
  // Paths of the files that belong to it: sidecars, RAW, Live video.
  std::vector<std::string> companions;
  // Bytes of a JPEG, long side at most the header's preview_side; empty: none.
  std::string thumb;
};

// What two members of the group have to do with each other.
struct PagePair {
  std::uint32_t a = 0;  // index into members
  std::uint32_t b = 0;
  double score = 0;                      // 0 to 1, more is more alike; NaN: not known
  std::map<std::string, int> distances;  // by the name of the measure: {"dhash": 3}
};

struct PageGroup {
  std::string id;  // unique on the page and the same in every run over the same files
  GroupKind kind = GroupKind::similar;
  std::vector<PageMember> members;
  std::vector<PagePair> pairs;  // may be empty (identical files have no distances), need not be all
};

struct PageUnreadable {
  std::string path;
  std::string reason;
};

// What the head of the page says. The numbers are shown as they are given, not counted again.
struct PageHeader {
  std::string title;                                // of the page and of its window
  std::vector<std::string> folders;                 // that were searched
  std::uint64_t files = 0;                          // seen
  std::uint64_t pictures = 0;                       // read
  std::uint64_t groups = 0;                         // found
  std::uint64_t reclaimable = 0;                    // bytes to free when every suggestion is accepted
  std::vector<PageUnreadable> unreadable, damaged;  // damaged: decoded in part
  int preview_side = 128;                           // the longer side of a picture on the page, in pixels, at most
  std::string rule;  // one or two sentences: what counts as the same picture, what is kept
};

// A page that this program wrote, an earlier version's too; it is its owner's alone.
OutputKind page_kind();

// Writes the page as groups come, so memory holds one group. All goes to temporary names beside
// the output; finish() syncs and renames, and until then, or after any failure, nothing of it is to be
// seen.
//
// Thumbnails are written into the page while their bytes stay within `inline_limit`; the group that
// would pass it and all later ones go to the folder PATH.thumbs as 0000/000000.jpg, a thousand a
// folder. A folder of that name from an earlier page is replaced; one that holds anything else is a
// conflict. Into a pipe or a device all are written with the page.
//
// Failures: io and not_found when the system refuses, conflict as above, internal for a pair that
// names no member. After one the object only waits for its destructor.
class DuplicatesPage {
 public:
  // With what is said of a hundred thousand pictures a page of 64 MiB.
  static constexpr Bytes kInlineLimit{44'000'000};

  DuplicatesPage(const Output& output, const PageHeader& header, Bytes inline_limit = kInlineLimit);
  ~DuplicatesPage();
  DuplicatesPage(const DuplicatesPage&) = delete;
  DuplicatesPage& operator=(const DuplicatesPage&) = delete;

  void add_group(const PageGroup& group);
  void finish();

  // Failure(conflict) when something else has the name of the folder that a large page keeps beside it.
  static void check(const Output& output);
  // That name.
  static std::string thumbs_folder(const Output& output) { return output.path() + ".thumbs"; }

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace millrace::dedupe
