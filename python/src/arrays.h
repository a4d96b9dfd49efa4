// Input: whatever Python has that is an array: NumPy's, DLPack's, a buffer.
// Output: a view of it as the library reads one, where it lies; arrays of the library's numbers as NumPy.
// Never: copies what enters.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/array.h"

namespace millrace::python {

namespace nb = nanobind;

// An array that is held as long as this lives.
struct HeldArray {
  nb::ndarray<nb::ro> array;
  ArrayView view;
};

// Failure(usage) naming the object's type where it is no array, or, to be written, one that may not be.
HeldArray hold_array(nb::handle object, const char* name);
HeldArray hold_writable_array(nb::handle object, const char* name);
// Size of the array's elements, in host or in device memory.
std::uint64_t bytes_of(const ArrayView& view);
// Each of them, held by `arrays` behind what is there already.
std::vector<ArrayView> views_of(const nb::list& objects, const char* name, std::vector<HeldArray>& arrays);

// `numbers` become NumPy's, without a copy.
template <typename Number>
nb::object to_numpy(std::vector<Number>&& numbers, const std::vector<std::int64_t>& shape) {
  auto own = std::make_unique<std::vector<Number>>(std::move(numbers));
  const nb::capsule owner(own.get(), [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  std::vector<Number>* const kept = own.release();
  const std::vector<std::size_t> sides(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, Number>(kept->data(), sides.size(), sides.data(), owner));
}

}  // namespace millrace::python
