// Input: the text that `dedupe --json` wrote; it may be anything.
// Output: its groups as a page shows them, and each of their files with a number.
// Never: looks at a disk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/dedupe/page/page.h"

namespace millrace::dedupe {

// A file of the result as it was when it was searched.
struct FoundFile {
  std::string path;  // bytes, absolute
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::string hash;           // of its content, as PageMember has it
  int width = 0, height = 0;  // upright; 0: not known
};

struct SavedSearch {
  PageHeader header;
  std::vector<PageGroup> groups;                // PageMember::path is the path's bytes
  std::vector<FoundFile> files;                 // each once, whatever groups it stands in
  std::vector<std::vector<std::uint32_t>> ids;  // of each group's members: which of `files`
  std::string page_id;
};

inline constexpr std::size_t kMostResultBytes = std::size_t{1} << 30;

// Failure(bad_data) that names the group and the member and what is wrong with it; `subject` is the file.
SavedSearch read_saved_search(const std::string& text, const std::string& subject);

}  // namespace millrace::dedupe
