#include "include/millrace/array.h"

#include <array>

namespace millrace {
namespace {

struct Named {
  ElementType type;
  std::string_view name;
};
constexpr std::array<Named, 13> kNames = {{{kUint8, "uint8"},
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

}  // namespace

std::string name_of(ElementType type) {
  for (const Named& named : kNames) {
    if (named.type == type) return std::string(named.name);
  }
  return "a type of " + std::to_string(type.bits) + " bits";
}

std::optional<ElementType> element_type(std::string_view name) {
  for (const Named& named : kNames) {
    if (named.name == name) return named.type;
  }
  return std::nullopt;
}

std::int64_t ArrayView::elements() const {
  std::int64_t out = 1;
  for (const std::int64_t side : shape) out *= side;
  return out;
}

bool ArrayView::contiguous() const {
  if (strides.empty()) return true;
  if (strides.size() != shape.size()) return false;
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) {
    // Of one element nobody takes a step.
    if (shape[i] != 1 && strides[i] != step) return false;
  }
  return true;
}

}  // namespace millrace
