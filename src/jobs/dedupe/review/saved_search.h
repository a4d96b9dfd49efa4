// Input: the text of a file that should be the output of `dedupe --json`; it may be anything.
// Output: its groups in the form that a page shows, and a number for each of their files.
// Never: accesses a disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/dedupe/page/duplicates_page.h"

namespace millrace::dedupe {

// File of the result, with its properties at the time of the search.
struct SavedFile {
  std::string path;  // bytes, absolute
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;           // content hash in the format of PageMember
  int width = 0, height = 0;  // upright; 0: not known
};

struct SavedSearch {
  PageHeader header;
  std::vector<PageGroup> groups;                // PageMember::path holds the path's bytes
  std::vector<SavedFile> files;                 // each file once, however many groups it is in
  std::vector<std::vector<std::uint32_t>> ids;  // for each group: the indexes of its members in `files`
  std::string page_id;
};

inline constexpr std::size_t kMaxResultBytes = std::size_t{1} << 30;

// Throws Failure(bad_data) that names the group, the member and the problem; `subject` is the file.
SavedSearch read_saved_search(const std::string& text, const std::string& subject);

}  // namespace millrace::dedupe
