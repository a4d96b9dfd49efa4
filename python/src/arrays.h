// Input: an array of Python: NumPy's, DLPack's, or a buffer.
// Output: a view of it for the library, in the same memory; NumPy arrays with the library's numbers.
// Never: copies an input array.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/array.h"

namespace millrace::python {

namespace nb = nanobind;

// Keeps a reference to a Python array, and so its memory, while the object lives.
struct HeldArray {
  nb::ndarray<nb::ro> array;
  ArrayView view;
};

// Throws Failure(usage) with the object's type if it is not an array, or not a writable one where that is needed.
HeldArray hold_array(nb::handle object, const char* name);
HeldArray hold_writable_array(nb::handle object, const char* name);
// Size of the array's elements, in host or in device memory.
std::uint64_t bytes_of(const ArrayView& view);
// Returns a view of each object; appends the held objects to `arrays`.
std::vector<ArrayView> views_of(const nb::list& objects, const char* name, std::vector<HeldArray>& arrays);

// Moves `numbers` into a NumPy array, without a copy.
template <typename Number>
nb::object to_numpy(std::vector<Number>&& numbers, const std::vector<std::int64_t>& shape) {
  auto own = std::make_unique<std::vector<Number>>(std::move(numbers));
  const nb::capsule owner(own.get(), [](void* p) noexcept { delete static_cast<std::vector<Number>*>(p); });
  std::vector<Number>* const kept = own.release();
  const std::vector<std::size_t> sides(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, Number>(kept->data(), sides.size(), sides.data(), owner));
}

}  // namespace millrace::python
