#include "src/io/tensor/torch_file.h"

#include <gmock/gmock.h>

#include "src/io/tensor/tensor_files_for_test.h"

namespace millrace::torch_file {
namespace {

using for_test::deflated_member;
using for_test::integer;
using for_test::name;
using for_test::pickle_of;
using for_test::stored;
using for_test::TensorPickle;
using for_test::text;
using for_test::torch_zip;
using for_test::tuple;
using for_test::u64;
using for_test::zip_of;
using for_test::ZipMember;
using testing::HasSubstr;

const std::string kData(24, 'x');

class TorchFile : public for_test::TensorFiles {
 protected:
  std::string what(const std::string& contents) { return lines_of(write("a.pt", contents)); }
};

std::string magic() { return pickle_of(std::string("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12)); }
std::string legacy(const std::string& object, const std::string& storages, const std::string& keys = "0",
                   const std::string& little = "\x88") {
  return magic() + pickle_of("M\xe9\x03") + pickle_of("}" + text("little_endian") + little + "s") + object +
         pickle_of("]" + text(keys) + "a") + storages;
}

TEST_F(TorchFile, BothFormatsAreRead) {
  const std::string pickle = pickle_of(TensorPickle().value());
  std::string expected = "|float32|2,3|";
  for (int i = 0; i < 24; ++i) expected += "78";
  EXPECT_EQ(what(torch_zip(pickle, kData)), expected + "\n");
  EXPECT_EQ(what(legacy(pickle, u64(6) + kData)), expected + "\n");
  cut_everywhere("b.pt", legacy(pickle, u64(6) + kData));
}

// The pickle and the archive must agree on the storages.
TEST_F(TorchFile, ArchivesThatContradictTheirPickle) {
  const std::string pickle = pickle_of(TensorPickle().value());
  EXPECT_THAT(what(torch_zip(pickle, "short")), HasSubstr("does not match its pickle"));
  EXPECT_THAT(what(torch_zip(pickle, kData + "x")), HasSubstr("does not match its pickle"));
  EXPECT_THAT(what(torch_zip(pickle_of(TensorPickle{.key = "1"}.value()), kData)), HasSubstr("lacks the storage '1'"));
  EXPECT_THAT(what(torch_zip(pickle_of(TensorPickle{.key = "../version"}.value()), kData)),
              HasSubstr("lacks the storage"));
  EXPECT_THAT(what(torch_zip(pickle.substr(0, pickle.size() - 1), kData)), HasSubstr("pickle is truncated"));
  EXPECT_THAT(what(torch_zip(pickle_of(name("os", "system") + tuple({text("id")}) + "R"), kData)),
              HasSubstr("wants to call os.system"));
  EXPECT_THAT(what(zip_of({stored("a/data/0", kData)})), HasSubstr("without data.pkl"));
  EXPECT_THAT(what(zip_of({stored("data.pkl", pickle), stored("data/0", kData)})), HasSubstr("without data.pkl"));
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), stored("b/data.pkl", pickle)})),
              HasSubstr("two files data.pkl"));
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), stored("b/data/0", kData)})), HasSubstr("lacks the storage"));
  for (const char* script : {"a/constants.pkl", "a/code/__torch__.py"}) {
    EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), stored(script, ""), stored("a/data/0", kData)})),
                HasSubstr("TorchScript"));
  }
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), stored("a/byteorder", "big")})), HasSubstr("big-endian"));
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), stored("a/byteorder", "x")})), HasSubstr("byte order is 'x'"));
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), stored("a/byteorder", std::string(100, 'x'))})),
              HasSubstr("the limit is"));
  EXPECT_THAT(what(zip_of({deflated_member("a/data.pkl", std::string(17 << 20, 'N'))})), HasSubstr("the limit is"));
}

// PyTorch writes 0 if it is set not to compute a CRC-32, and only 0 is accepted for that.
TEST_F(TorchFile, ACrcIsCheckedWhereThereIsOne) {
  const std::string pickle = pickle_of(TensorPickle().value());
  ZipMember data = stored("a/data/0", kData);
  data.crc = 1;
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), data})), HasSubstr("CRC-32"));
  data.crc = 0;
  EXPECT_THAT(what(zip_of({stored("a/data.pkl", pickle), data})), HasSubstr("|float32|2,3|"));
  ZipMember damaged = stored("a/data.pkl", pickle);
  damaged.crc = 1;
  EXPECT_THAT(what(zip_of({damaged, stored("a/data/0", kData)})), HasSubstr("'a/data.pkl' is damaged"));
}

TEST_F(TorchFile, OldFilesThatContradictThemselves) {
  const std::string pickle = pickle_of(TensorPickle().value());
  EXPECT_THAT(what("not a tensor"), HasSubstr("neither a zip archive nor"));
  EXPECT_THAT(what(pickle), HasSubstr("neither"));
  EXPECT_THAT(what(pickle_of(name("os", "system"))), HasSubstr("neither"));
  EXPECT_THAT(what(magic()), HasSubstr("truncated"));
  EXPECT_THAT(what(magic() + pickle_of("K\x01")), HasSubstr("version of torch.save()"));
  EXPECT_THAT(what(magic() + pickle_of("M\xe9\x03") + pickle_of("N")), HasSubstr("byte order of its numbers"));
  EXPECT_THAT(what(legacy(pickle, u64(6) + kData, "0", "\x89")), HasSubstr("big-endian"));
  EXPECT_THAT(what(legacy(pickle, u64(7) + kData)), HasSubstr("does not match its pickle"));
  EXPECT_THAT(what(legacy(pickle, u64(~0ULL) + kData)), HasSubstr("does not match its pickle"));
  EXPECT_THAT(what(legacy(pickle, u64(6) + kData.substr(1))), HasSubstr("middle of its storage '0'"));
  EXPECT_THAT(what(legacy(pickle, u64(6) + kData, "1")), HasSubstr("'1' that no tensor uses"));
  EXPECT_THAT(what(legacy(pickle_of("]"), "")), HasSubstr("no tensor uses"));
  EXPECT_THAT(what(legacy(pickle_of(name("os", "system")), "")), HasSubstr("os.system"));
  const std::string two = pickle_of("(" + TensorPickle().value() + TensorPickle{.elements = 7}.value() + "l");
  EXPECT_THAT(what(legacy(two, u64(6) + kData)), HasSubstr("two sizes"));
  const std::string twice = magic() + pickle_of("M\xe9\x03") + pickle_of("}") + pickle +
                            pickle_of("(" + text("0") + text("0") + "l") + u64(6) + kData + u64(6) + kData;
  EXPECT_THAT(what(twice), HasSubstr("two storages '0'"));
}

// A view of before PyTorch 0.4 is a range of another storage.
TEST_F(TorchFile, ViewsStayInsideOfTheirStorage) {
  const auto viewed = [&](const std::string& view) {
    const std::string id =
        tuple({text("storage"), name("torch", "ByteStorage"), text("0"), text("cpu"), integer(24), view}) + "Q";
    const std::string value = name("torch._utils", "_rebuild_tensor") +
                              tuple({id, integer(1), tuple({integer(2)}), tuple({integer(1)})}) + "R";
    return what(legacy(pickle_of(value), u64(24) + "abcdefghijklmnopqrstuvwx"));
  };
  EXPECT_EQ(viewed("N"), "|uint8|2|6263\n");
  EXPECT_EQ(viewed(tuple({text("v"), integer(10), integer(3)})), "|uint8|2|6c6d\n");
  EXPECT_THAT(viewed(tuple({text("v"), integer(10), integer(2)})), HasSubstr("beyond its storage"));
  EXPECT_THAT(viewed(tuple({text("v"), integer(23), integer(3)})), HasSubstr("view in it extends beyond"));
  EXPECT_THAT(viewed(tuple({text("v"), integer(25), integer(0)})), HasSubstr("view in it extends beyond"));
  EXPECT_THAT(viewed(tuple({text("v"), integer(-1), integer(3)})), HasSubstr("negative"));
  EXPECT_THAT(viewed(text("v")), HasSubstr("PyTorch does not"));
}

}  // namespace
}  // namespace millrace::torch_file
