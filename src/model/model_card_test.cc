#include "src/model/model_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/model/model_for_test.h"

namespace millrace::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error refused(const std::string& text) {
  try {
    parse_card(text, "m.json");
  } catch (const Failure& failure) {
    return failure.error();
  }
  ADD_FAILURE() << "was taken: " << text;
  return {};
}

TEST(ModelCard, AddsFactsThatTheFileLacks) {
  const ModelCard card = parse_card(
      R"({"input": "bgr", "range": [0, 255], "mean": [1, 2.5, 3], "std": [4, 5, 6], "activation": "softmax",
          "classes": [{"name": "none"}, {"name": "vessel", "color": "#FF8000"}], "window": 320, "threshold": 0.4196})",
      "m.json");
  EXPECT_EQ(card.input, ChannelOrder::bgr);
  EXPECT_EQ((*card.range)[1], 255);
  EXPECT_THAT(card.mean, ElementsAre(1, 2.5F, 3));
  EXPECT_EQ(card.output.activation, Activation::softmax);
  ASSERT_EQ(card.output.classes.size(), 2U);
  EXPECT_EQ(card.output.classes[1].name, "vessel");
  EXPECT_THAT(card.output.classes[1].color.value(), ElementsAre(255, 128, 0));
  EXPECT_FALSE(card.output.classes[0].color);
  EXPECT_EQ(card.window, 320);
  EXPECT_EQ(card.output.threshold, 0.4196);
  const ModelCard empty = parse_card("{}", "m.json");
  EXPECT_FALSE(empty.input || empty.range || empty.window || empty.output.threshold);
}

TEST(ModelCard, AnInvalidKeyIsNamed) {
  EXPECT_THAT(refused(R"({"treshold": 0.5})").remedy, HasSubstr("'threshold'"));
  EXPECT_THAT(refused(R"({"library": "/tmp/x.so"})").what, HasSubstr("unknown key 'library'"));
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {R"({"input": "rgba"})", "input"},
           {R"({"range": [1, 0]})", "range"},
           {R"({"range": [0, 1, 2]})", "range"},
           {R"({"std": [0, 1, 1]})", "std"},
           {R"({"mean": ["a"]})", "mean"},
           {R"({"mean": 1e999})", "mean"},
           {R"({"window": 51.5})", "window"},
           {R"({"window": -1})", "window"},
           {R"({"threshold": 7})", "threshold"},
           {R"({"activation": ["sigmoid"]})", "activation"},
           {R"({"classes": []})", "classes"},
           {R"({"classes": [{"name": "a"}, {"name": "a"}]})", "classes"},
           {R"({"classes": [{"name": "a", "color": "red"}]})", "color"},
           {R"({"classes": [{"name": "a", "path": "/etc"}]})", "classes"},
       }) {
    const Error error = refused(text);
    EXPECT_EQ(error.code, ErrorCode::bad_data) << text;
    EXPECT_THAT(error.what, ::testing::AnyOf(HasSubstr(key), HasSubstr("not a model card"))) << text;
  }
  for (const std::string& text : {std::string("[]"), std::string("{"), std::string("null"), std::string(100'000, '[')})
    EXPECT_THAT(refused(text).what, HasSubstr("not a model card"));
}

TEST(ModelCard, AFirstOneIsTakenAndFitsTheModel) {
  const std::string text = for_test::times(2);
  const OnnxFile onnx =
      read_onnx({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "m.onnx").or_throw();
  const ModelCard card = parse_card(describe(onnx), "m.json");
  EXPECT_EQ(card.input, ChannelOrder::gray);
  EXPECT_EQ(card.output.classes.size(), 1U);
  EXPECT_EQ(card_path_of("a/m.onnx"), "a/m.json");
  EXPECT_EQ(card_path_of("a/m"), "a/m.json");
}

}  // namespace
}  // namespace millrace::model
