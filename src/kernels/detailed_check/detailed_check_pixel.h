// Input: red, green, blue and a fourth value side by side.
// Output: the four as one vector, of a type that every machine has.
// Never: used from outside this folder.
#pragma once

#include <cstring>

namespace millrace::detailed_check {

using Pixel = float __attribute__((vector_size(16)));

inline Pixel pixel_at(const float* from) {
  Pixel out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
inline void put(Pixel pixel, float* to) { std::memcpy(to, &pixel, sizeof pixel); }

}  // namespace millrace::detailed_check
