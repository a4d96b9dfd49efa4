// Input: the groups of a page, in their order.
// Output: what the page is known by: which files it asks about, not how it shows them.
// Never: changes when only a reason, a score or a thumbnail did: decisions that are kept for a page live on then.
#pragma once

#include <memory>
#include <string>

#include "src/jobs/dedupe/page/page.h"

namespace millrace::dedupe {

class PageId {
 public:
  PageId();
  ~PageId();
  PageId(const PageId&) = delete;
  PageId& operator=(const PageId&) = delete;

  void add(const PageGroup& group);
  // 32 hexadecimal digits.
  std::string hex() const;

 private:
  struct State;
  void add(std::string_view text);
  std::unique_ptr<State> state_;
};

}  // namespace millrace::dedupe
