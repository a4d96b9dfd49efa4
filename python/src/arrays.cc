#include "arrays.h"

#include <nanobind/stl/string.h>

#include <string>

#include "millrace/error.h"

namespace millrace::python {
namespace {

ArrayView view_of_tensor(const nb::dlpack::dltensor& tensor, const std::string& name) {
  ArrayView out;
  out.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  out.type = {static_cast<TypeCode>(tensor.dtype.code), tensor.dtype.bits};
  if (tensor.dtype.lanes != 1)
    throw Failure(ErrorCode::usage, "elements of a vector type are not supported", name, "pass an array of numbers");
  out.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  // Strides of an array without elements have no meaning, and may hold any value.
  if (tensor.strides != nullptr && out.elements() > 0) out.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  constexpr int kHost = 1, kCuda = 2, kCudaHost = 3;  // DLDeviceType
  const int kind = tensor.device.device_type;
  if (kind != kHost && kind != kCuda && kind != kCudaHost)
    throw Failure(ErrorCode::usage, "memory of DLPack's device type " + std::to_string(kind) + " is not supported",
                  name, "pass an array in host or CUDA memory");
  out.memory = static_cast<MemoryKind>(kind);
  out.device = tensor.device.device_id;
  return out;
}

std::string type_of(nb::handle object) { return nb::cast<std::string>(nb::str(object.type().attr("__name__"))); }

template <typename Array>
Array cast_to(nb::handle object, const char* name, const char* what) {
  Array out;
  if (object.is_none() || !nb::try_cast(object, out, false)) {
    // The exporter's message is more precise: a tensor that requires a gradient, strides of a fraction of an element.
    std::string why;
    if (nb::hasattr(object, "__dlpack__")) {
      try {
        static_cast<void>(object.attr("__dlpack__")());
      } catch (nb::python_error& error) {
        why = std::string(": ") + nb::cast<std::string>(nb::str(error.value()));
      }
    }
    throw Failure(ErrorCode::usage, type_of(object) + " is not an array that " + what + why, name, "");
  }
  return out;
}

// Reads an array that was imported once: a second import may describe another array.
HeldArray hold_array(nb::ndarray<nb::ro> array, const char* name) {
  HeldArray out;
  out.array = std::move(array);
  nb::dlpack::dltensor tensor;
  tensor.data = const_cast<void*>(static_cast<const void*>(out.array.data()));
  tensor.device = {out.array.device_type(), out.array.device_id()};
  tensor.ndim = static_cast<std::int32_t>(out.array.ndim());
  tensor.dtype = out.array.dtype();
  tensor.shape = const_cast<std::int64_t*>(out.array.shape_ptr());
  tensor.strides = const_cast<std::int64_t*>(out.array.stride_ptr());
  out.view = view_of_tensor(tensor, name);
  return out;
}

}  // namespace

HeldArray hold_array(nb::handle object, const char* name) {
  return hold_array(cast_to<nb::ndarray<nb::ro>>(object, name, "can be read (NumPy, DLPack or the buffer protocol)"),
                    name);
}

HeldArray hold_writable_array(nb::handle object, const char* name) {
  return hold_array(nb::ndarray<nb::ro>(cast_to<nb::ndarray<>>(object, name, "can be written to")), name);
}

std::uint64_t bytes_of(const ArrayView& view) {
  return static_cast<std::uint64_t>(view.elements()) * view.type.bytes();
}

std::vector<ArrayView> views_of(const nb::list& objects, const char* name, std::vector<HeldArray>& arrays) {
  std::vector<ArrayView> out;
  // Reading an array may run Python code, which may change the list.
  for (nb::handle object : nb::tuple(objects)) {
    arrays.push_back(hold_array(object, name));
    out.push_back(arrays.back().view);
  }
  return out;
}

}  // namespace millrace::python
