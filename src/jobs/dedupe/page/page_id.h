// Input: the groups of a page, in their order.
// Output: an id of the page that depends on the files it asks about, not on how it shows them.
// Never: changes when only a reason, a score or a thumbnail changed: decisions kept for a page then stay valid.
#pragma once

#include <memory>
#include <string>

#include "src/jobs/dedupe/page/duplicates_page.h"

namespace millrace::dedupe {

class PageId {
 public:
  PageId();
  ~PageId();
  PageId(const PageId&) = delete;
  PageId& operator=(const PageId&) = delete;

  void add(const PageGroup& group);
  // Returns 32 hexadecimal digits.
  std::string hex() const;

 private:
  struct State;
  void add(std::string_view text);
  std::unique_ptr<State> state_;
};

}  // namespace millrace::dedupe
