// Enters: pictures.
// Leaves: one picture of them, over each other or one below the other.
// Never: mixes: of two levels in a pixel, the higher one stays.
#pragma once

#include <vector>

#include "src/kernels/ink/ink.h"

namespace millrace::ink {

// Adds the rows of `from` to a picture of the same width that has been begun.
void append_rows(const Picture& from, Picture& to);
// The same of two pictures of one size, over each other.
class Overlay {
 public:
  void append(const Picture& a, const Picture& b, Picture& to);

 private:
  std::vector<std::uint8_t> row_;
};

}  // namespace millrace::ink
