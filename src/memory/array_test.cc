#include "include/millrace/array.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(ElementType, EveryNameIsReadBack) {
  for (const ElementType type : {kUint8, kUint16, kUint32, kUint64, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32,
                                 kFloat64, kBfloat16, kBool}) {
    EXPECT_EQ(element_type(name_of(type)), type) << name_of(type);
  }
  EXPECT_EQ(kBfloat16.bytes(), 2);
  EXPECT_NE(kBfloat16, kFloat16);
  for (const char* name : {"", "float", "float128", "complex64", "uint8 ", "UINT8"}) {
    EXPECT_FALSE(element_type(name)) << name;
  }
}

TEST(ArrayView, ContiguousIsRowAfterRow) {
  ArrayView view;
  view.shape = {4, 3, 2};
  EXPECT_EQ(view.elements(), 24);
  EXPECT_TRUE(view.contiguous());
  view.strides = {6, 2, 1};
  EXPECT_TRUE(view.contiguous());
  view.strides = {1, 4, 12};
  EXPECT_FALSE(view.contiguous());
  view.strides = {8, 2, 1};
  EXPECT_FALSE(view.contiguous()) << "rows of a larger array";
  view.shape = {1, 3, 2};
  EXPECT_TRUE(view.contiguous()) << "of one row nobody takes a step";
  view.shape = {};
  view.strides = {};
  EXPECT_EQ(view.elements(), 1);
}

}  // namespace
}  // namespace millrace
