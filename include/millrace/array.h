// Input: an address, and what lies there.
// Output: a view of an array that every part of a program reads alike, one to one with DLPack's DLTensor.
// Never: owns memory, allocates it, or looks at it.
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

// What one element is. Two bfloats of 16 bits have the range of float32 and 8 bits of precision.
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
// As NumPy and ml_dtypes name them.
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
// Nothing for a name of none of them.
inline std::optional<ElementType> element_type(std::string_view name) {
  for (const NamedType& named : kElementTypes) {
    if (named.name == name) return named.type;
  }
  return std::nullopt;
}

enum class MemoryKind : std::uint8_t {
  host = 1,    // the program's own
  device = 2,  // a device's
  pinned = 3,  // the program's own, locked for copies to a device
};

struct ArrayView {
  void* data = nullptr;  // may be null where there are no elements
  ElementType type;
  std::vector<std::int64_t> shape;    // elements; without any it is one number
  std::vector<std::int64_t> strides;  // in elements, as many as `shape` has; none: row after row without gaps
  MemoryKind memory = MemoryKind::host;
  std::int32_t device = 0;  // which one of its kind

  // The product of the sides, which are taken as they are: neither one below 0 nor an overflow is noticed.
  std::int64_t elements() const {
    std::int64_t out = 1;
    for (const std::int64_t side : shape) out *= side;
    return out;
  }
  // Row after row without gaps. Strides that are not as many as the sides are not.
  bool contiguous() const {
    if (strides.empty()) return true;
    if (strides.size() != shape.size()) return false;
    std::int64_t step = 1;
    for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) {
      // Of one element nobody takes a step.
      if (shape[i] != 1 && strides[i] != step) return false;
    }
    return true;
  }
};

// Of what C++ calls these numbers.
template <typename Number>
constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<Number> && sizeof(Number) <= 8, "elements are numbers of at most 64 bits");
  if (std::is_same_v<Number, bool>) return kBool;
  const TypeCode code = std::is_floating_point_v<Number> ? TypeCode::floating
                        : std::is_signed_v<Number>       ? TypeCode::integer
                                                         : TypeCode::unsigned_integer;
  return {code, static_cast<std::uint8_t>(8 * sizeof(Number))};
}

// Numbers of this process, row after row. What is only read may be const. Nothing is checked: neither the shape, nor
// that so many numbers lie there.
template <typename Number>
ArrayView view_of(Number* data, std::vector<std::int64_t> shape) {
  using Plain = std::remove_const_t<Number>;
  return {const_cast<Plain*>(data), element_type_of<Plain>(), std::move(shape), {}, MemoryKind::host, 0};
}

}  // namespace millrace
