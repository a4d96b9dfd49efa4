// Input: the data of a review.
// Output: the texts that a browser receives: the page without its data, its program, and the data.
// Never: puts a file's name into a page as markup; puts a person's data into an answer that needs no key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/dedupe/review/saved_search.h"

namespace millrace::dedupe {

// Returns the page of dedupe --report in a form that fetches its data. Only scripts and styles with the nonce take
// effect.
std::string shell_html(const std::string& nonce);
// Returns the content security policy of that page.
std::string shell_policy(const std::string& nonce);
// Returns the page's own program, which the shell starts when the data has arrived.
std::string_view shell_script();

// Further data that a page needs about the review that serves it.
struct ReviewPageData {
  std::string action;  // action in the words of apply: "trash"
  std::string words;   // the same as a phrase: "put into the trash"
  bool merge_metadata = false;
  std::string marks;                // JSON that a page stored here; empty: none
  std::vector<std::uint32_t> gone;  // files that no longer exist
  std::uint64_t visit = 0;          // number of the page load in this review
  // Runs of this review that were carried out and not reversed: number, and count of files.
  std::vector<std::pair<std::size_t, std::uint64_t>> runs;
};
// Returns lines of JSON: the header, the end, then two lines per group (the group, and the numbers of its files).
std::string format_data_lines(const SavedSearch& found, const ReviewPageData& served);

}  // namespace millrace::dedupe
