#include "src/model/onnx/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/model/model_for_test.h"
#include "src/model/onnx/protobuf.h"

namespace millrace::model {
namespace {

using namespace for_test;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Outcome<OnnxFile> read(const std::string& text) {
  return read_onnx({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "m.onnx");
}

TEST(Wire, FieldsFollowTheFormat) {
  // The number 150 as in the format's documentation, a text, a fixed32, and the largest number.
  const std::string text = std::string("\x08\x96\x01\x12\x07testing\x1d\x01\x02\x03\x04", 17) + number(4, ~0ULL);
  ProtobufReader reader({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  auto field = reader.next();
  EXPECT_EQ(field->number, 1U);
  EXPECT_EQ(field->value, 150U);
  field = reader.next();
  EXPECT_EQ(field->number, 2U);
  EXPECT_EQ(field->text(), "testing");
  field = reader.next();
  EXPECT_EQ(field->value, 0x04030201U);
  field = reader.next();
  EXPECT_EQ(field->value, ~0ULL);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.good());
}

TEST(Wire, AMalformedFieldIsReported) {
  for (const std::string& text : {
           std::string("\x08"),  // no number follows
           std::string("\x12\x05"
                       "abcd"),                                          // a text that is shorter than its length says
           std::string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),  // 2^64 - 1 bytes
           std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),  // 65 bits
           std::string("\x0b"),                                          // a group, which is obsolete
           std::string("\x02\x00", 2),                                   // field 0
           std::string("\x1d\x01\x02\x03"),                              // a fixed32 of three bytes
       }) {
    ProtobufReader reader({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.good()) << text.size();
  }
}

TEST(OnnxFile, ListsInputsAndOutputs) {
  const std::string inner = bytes(1, node("Erf", "deep", {"a"}, "b"));
  const std::string text =
      model(bytes(1, node("Mul", "scale", {"x", "factor"}, "t")) +
                bytes(1, node("Blur", "soft", {"t"}, "u", bytes(7, "com.example"))) +
                bytes(1, node("If", "choice", {"u"}, "y", bytes(5, bytes(1, "then_branch") + bytes(6, inner)))) +
                bytes(1, node("Mul", "again", {"y", "factor"}, "z")) + bytes(5, floats("factor", {1}, {2})) +
                bytes(5, external("far", 4, "numbers/far.bin")) + bytes(11, value_info("x", {1, 3, 0, 512})) +
                bytes(11, value_info("factor", {1})) + bytes(12, value_info("y", {1, 1, 0, 512})),
            17);
  const auto found = read(text);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->producer, "a test 1.0");
  EXPECT_EQ(found->ir_version, 8U);
  EXPECT_THAT(found->operator_sets, ElementsAre(Pair("", 17U)));
  ASSERT_EQ(found->inputs.size(), 1U);  // the factor has weights
  EXPECT_EQ(found->inputs[0].name, "x");
  EXPECT_EQ(found->inputs[0].type, "float32");
  EXPECT_THAT(found->inputs[0].shape, ElementsAre(1, 3, kAnySide, 512));
  EXPECT_EQ(text_of(found->inputs[0].shape), "[1, 3, ?, 512]");
  ASSERT_EQ(found->outputs.size(), 1U);
  EXPECT_EQ(found->outputs[0].name, "y");
  EXPECT_THAT(found->operators, UnorderedElementsAre(Pair("Mul", "scale"), Pair("com.example.Blur", "soft"),
                                                     Pair("If", "choice"), Pair("Erf", "deep")));
  EXPECT_THAT(found->external, ElementsAre("numbers/far.bin"));
  EXPECT_EQ(found->nodes, 5U);
}

TEST(OnnxFile, AFileThatIsNoModelIsReported) {
  for (const std::string& text : {std::string(), std::string("name: \"a text\""), std::string(4096, '\0'), number(1, 8),
                                  bytes(7, bytes(2, "graph")), std::string("\x89PNG\r\n\x1a\n")}) {
    const auto found = read(text);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, ErrorCode::bad_data);
  }
}

TEST(OnnxFile, NoPrefixOfAModelIsOneWithItsGraphCut) {
  const std::string whole = times(2);
  const std::size_t graph_ends = whole.size() - bytes(8, bytes(1, "") + number(2, 13)).size();
  for (std::size_t n = 0; n < graph_ends; ++n) EXPECT_FALSE(read(whole.substr(0, n)).ok()) << n;
}

TEST(OnnxFile, GraphsInGraphsHaveAnEnd) {
  std::string graph = bytes(1, node("Erf", "deepest", {"a"}, "b"));
  for (int k = 0; k < 32; ++k) {
    EXPECT_TRUE(read(model(graph)).ok()) << k;
    graph = bytes(1, node("If", "", {"a"}, "b", bytes(5, bytes(6, graph))));
  }
  EXPECT_TRUE(read(model(graph)).ok());
  EXPECT_FALSE(read(model(bytes(1, node("If", "", {"a"}, "b", bytes(5, bytes(6, graph)))))).ok());
}

}  // namespace
}  // namespace millrace::model
