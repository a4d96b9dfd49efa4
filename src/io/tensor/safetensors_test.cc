#include "src/io/tensor/safetensors.h"

#include <gmock/gmock.h>

#include "src/io/tensor/tensor_files_for_test.h"

namespace millrace::safetensors {
namespace {

using for_test::u64;
using testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) { return u64(header.size()) + header + data; }

// Returns a line per tensor with its bytes, or the reason of a refusal.
std::string what(const std::string& file) {
  MemorySource source(std::as_bytes(std::span(file)));
  try {
    std::string out;
    for (const tensor_file::Tensor& tensor : list(source)) {
      out += fmt::format("{}|{}|{}|{};", tensor.name, name_of(tensor.type), fmt::join(tensor.shape, ","),
                         file.substr(tensor.block.offset, tensor.block.bytes));
    }
    return out;
  } catch (const ParseError& parse_error) {
    return parse_error.what;
  }
}
std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape + "],\"data_offsets\":[" + offsets + "]}";
}

TEST(Safetensors, TensorsLieAtTheHeadersOffsets) {
  EXPECT_EQ(what(file_of("{\"__metadata__\":{\"format\":\"pt\"}," + tensor("b", "BF16", "2", "4,8") + "," +
                             tensor("a", "F16", "1,2", "0,4") + "," + tensor("none", "F32", "0,9", "4,4") + "}   ",
                         "aaaabbbb")),
            "b|bfloat16|2|bbbb;a|float16|1,2|aaaa;none|float32|0,9|;");
  EXPECT_EQ(what(file_of("{" + tensor("one", "I64", "", "0,8") + "}", "12345678")), "one|int64||12345678;");
  EXPECT_EQ(what(file_of("{}", "")), "");
}

TEST(Safetensors, PlacesAreChecked) {
  const auto with = [](const std::string& tensors) { return what(file_of("{" + tensors + "}", "12345678")); };
  for (const std::string& lie :
       {tensor("a", "F16", "4", "0,7"), tensor("a", "F16", "5", "0,10"), tensor("a", "F16", "4", "8,0"),
        tensor("a", "F16", "4", "1,9"), tensor("a", "F16", "9223372036854775807,4", "0,8"),
        tensor("a", "F16", "4", "18446744073709551608,0"), tensor("a", "F64", "2305843009213693953", "0,8"),
        tensor("a", "F16", "", "0,8")}) {
    EXPECT_THAT(with(lie), HasSubstr("does not match its shape")) << lie;
  }
  EXPECT_THAT(with(tensor("a", "U8", "4", "0,4") + "," + tensor("b", "U8", "5", "3,8")), HasSubstr("'b' overlaps"));
  EXPECT_THAT(with(tensor("a", "U8", "8", "0,8") + "," + tensor("b", "U8", "8", "0,8")), HasSubstr("overlaps"));
  EXPECT_THAT(with(tensor("a", "U8", "4", "0,4") + "," + tensor("b", "U8", "3", "5,8")), HasSubstr("leaves a gap"));
  EXPECT_THAT(with(tensor("a", "U8", "4", "0,4")), HasSubstr("does not match its tensors"));
  EXPECT_THAT(with(tensor("a", "F8_E4M3", "8", "0,8")), HasSubstr("'a' has the type F8_E4M3"));
  EXPECT_THAT(with(tensor("a", "U8", "4", "0,4") + "," + tensor("a", "U8", "4", "4,8")), HasSubstr("two tensors 'a'"));
  EXPECT_THAT(with(tensor(std::string(5000, 'n'), "U8", "8", "0,8")), HasSubstr("4 KiB"));
}

TEST(Safetensors, HeadersOfAnotherShapeAreRefused) {
  for (const char* header : {"",
                             " ",
                             "{",
                             "}",
                             "[]",
                             "1",
                             "null",
                             "\"a\"",
                             "{\"a\":1}",
                             "{\"a\":null}",
                             "{\"a\":{}}",
                             "{\"a\":[]}",
                             "{\"a\":\"x\"}",
                             "{\"a\":{\"dtype\":\"U8\"}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":0,\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":[0],\"shape\":[0],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[0.0],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[\"0\"],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[[0]],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[{}],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                             "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"more\":1}}",
                             "{\"__metadata__\":1}",
                             "{\"__metadata__\":{\"a\":1}}",
                             "{\"__metadata__\":{\"a\":{}}}",
                             "{\"__metadata__\":{},\"__metadata__\":{}}",
                             "{} x",
                             "{}{}",
                             "{\"\xff\":{}}"}) {
    const std::string answer = what(file_of(header, ""));
    EXPECT_FALSE(answer.empty() || answer.find('|') != std::string::npos) << header << " " << answer;
  }
  const std::string deep(1 << 20, '['), deeper = "{\"a\":" + deep;
  EXPECT_FALSE(what(file_of(deep, "")).empty());
  EXPECT_FALSE(what(file_of(deeper, "")).empty());
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{\"a\":";
  EXPECT_FALSE(what(file_of(nested, "")).empty());
  EXPECT_THAT(what(u64(1ULL << 63) + "{}"), HasSubstr("ends in its header"));
  EXPECT_THAT(what(u64((16 << 20) + 1) + std::string((16 << 20) + 1, ' ')), HasSubstr("16 MiB"));
  std::string sides = "0";
  for (int i = 0; i < 40; ++i) sides += ",1";
  EXPECT_THAT(what(file_of("{" + tensor("a", "U8", sides, "0,0") + "}", "")), HasSubstr("32 dimensions"));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string good =
      file_of("{" + tensor("a", "U8", "4", "0,4") + "," + tensor("b", "F16", "2", "4,8") + "}", "12345678");
  ASSERT_THAT(what(good), HasSubstr("|"));
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_THAT(what(good.substr(0, length)), testing::Not(HasSubstr("|"))) << length;
    EXPECT_FALSE(what(good.substr(0, length)).empty()) << length;
  }
}

}  // namespace
}  // namespace millrace::safetensors
