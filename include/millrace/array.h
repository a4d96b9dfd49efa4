// Input: the address, element type, shape and strides of an array.
// Output: a view of the array that all modules read alike, field by field like DLPack's DLTensor.
// Never: owns memory, allocates it, or reads the elements.
//
// Source: DLPack 1.0 (dlpack.h): the numbers of TypeCode and of MemoryKind are DLDataTypeCode's and DLDeviceType's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace millrace {

enum class TypeCode : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4, boolean = 6 };

// Type of one element. A bfloat of 16 bits has the range of float32 and 8 bits of precision.
struct ElementType {
  TypeCode code = TypeCode::unsigned_integer;
  std::uint8_t bits = 8;

  std::size_t bytes() const { return bits / 8U; }
  friend bool operator==(const ElementType&, const ElementType&) = default;
};

inline constexpr ElementType kUint8{TypeCode::unsigned_integer, 8}, kUint16{TypeCode::unsigned_integer, 16},
    kUint32{TypeCode::unsigned_integer, 32}, kUint64{TypeCode::unsigned_integer, 64}, kInt8{TypeCode::integer, 8},
    kInt16{TypeCode::integer, 16}, kInt32{TypeCode::integer, 32}, kInt64{TypeCode::integer, 64},
    kFloat16{TypeCode::floating, 16}, kFloat32{TypeCode::floating, 32}, kFloat64{TypeCode::floating, 64},
    kBfloat16{TypeCode::bfloat, 16}, kBool{TypeCode::boolean, 8};

struct NamedType {
  ElementType type;
  std::string_view name;
};
// Names of the element types in NumPy and ml_dtypes.
inline constexpr std::array<NamedType, 13> kElementTypes = {{{kUint8, "uint8"},
                                                             {kUint16, "uint16"},
                                                             {kUint32, "uint32"},
                                                             {kUint64, "uint64"},
                                                             {kInt8, "int8"},
                                                             {kInt16, "int16"},
                                                             {kInt32, "int32"},
                                                             {kInt64, "int64"},
                                                             {kFloat16, "float16"},
                                                             {kFloat32, "float32"},
                                                             {kFloat64, "float64"},
                                                             {kBfloat16, "bfloat16"},
                                                             {kBool, "bool"}}};

inline std::string name_of(ElementType type) {
  for (const NamedType& named : kElementTypes) {
    if (named.type == type) return std::string(named.name);
  }
  return "a type of " + std::to_string(type.bits) + " bits";
}
// Returns the type of this name; std::nullopt if kElementTypes has no such name.
inline std::optional<ElementType> element_type(std::string_view name) {
  for (const NamedType& named : kElementTypes) {
    if (named.name == name) return named.type;
  }
  return std::nullopt;
}

enum class MemoryKind : std::uint8_t {
  host = 1,    // memory of the process
  device = 2,  // memory of a device
  pinned = 3,  // memory of the process, locked for copies to a device
};

struct ArrayView {
  void* data = nullptr;  // may be null if there are no elements
  ElementType type;
  std::vector<std::int64_t> shape;    // number of elements per axis; empty for a single number
  std::vector<std::int64_t> strides;  // in elements, as many as `shape` has; empty if the array is contiguous
  MemoryKind memory = MemoryKind::host;
  std::int32_t device = 0;  // index among the devices of its kind

  // Returns the product of the sides. Neither a negative side nor an overflow is detected.
  std::int64_t elements() const {
    std::int64_t out = 1;
    for (const std::int64_t side : shape) out *= side;
    return out;
  }
  // True if rows follow each other without gaps. False if there are strides, but not one per axis.
  bool contiguous() const {
    if (strides.empty()) return true;
    if (strides.size() != shape.size()) return false;
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) {
      // A stride along an axis of one element is never used.
      if (shape[i] != 1 && strides[i] != step) return false;
    }
    return true;
  }
};

// Returns the element type of a C++ number type.
template <typename Number>
constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<Number> && sizeof(Number) <= 8, "elements are numbers of at most 64 bits");
  if (std::is_same_v<Number, bool>) return kBool;
  const TypeCode code = std::is_floating_point_v<Number> ? TypeCode::floating
                        : std::is_signed_v<Number>       ? TypeCode::integer
                                                         : TypeCode::unsigned_integer;
  return {code, static_cast<std::uint8_t>(8 * sizeof(Number))};
}

// Views numbers in memory of this process, row after row. Data that is only read may be const. The shape and the number
// of elements at `data` are not checked.
template <typename Number>
ArrayView view_of(Number* data, std::vector<std::int64_t> shape) {
  using Plain = std::remove_const_t<Number>;
  return {const_cast<Plain*>(data), element_type_of<Plain>(), std::move(shape), {}, MemoryKind::host, 0};
}

}  // namespace millrace
