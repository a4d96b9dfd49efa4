// Input: what a review shows.
// Output: the texts that a browser is given: the page without its data, the program behind it, and the data.
// Never: puts a file's name into a page as markup, or anything of a person's into what is given without a key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/dedupe/review/found.h"

namespace millrace::dedupe {

// The page that dedupe --report writes, which fetches what it shows. Only what has the nonce runs or styles it.
std::string shell_html(const std::string& nonce);
// The policy that goes with it.
std::string shell_policy(const std::string& nonce);
// The page's own program, which the shell starts when the data is there.
std::string_view shell_script();

// What a page needs to know besides, of the review that serves it.
struct ServedWords {
  std::string action;  // "trash", as apply names it
  std::string words;   // "put into the trash"
  bool merge_metadata = false;
  std::string marks;                // JSON that a page left here; empty: none
  std::vector<std::uint32_t> gone;  // files that are not there any more
  std::uint64_t visit = 0;          // which page this is of those that this review was asked for
  // What this review carried out and did not take back: by its numbers, and how many files each.
  std::vector<std::pair<std::size_t, std::uint64_t>> runs;
};
// Lines of JSON: the header, two a group (the group, and its files' numbers), the end.
std::string data_lines(const SavedSearch& found, const ServedWords& served);

}  // namespace millrace::dedupe
