#include "src/io/tensor/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "src/base/full_disk_for_test.h"

namespace millrace::npy {
namespace {

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "npy_" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  Array read(const std::string& path) {
    return Array::read(path, budget_, [] { return false; });
  }
  ErrorCode why_not(const std::string& path) {
    try {
      read(path);
    } catch (const Failure& failure) {
      return failure.error().code;
    }
    return ErrorCode::internal;
  }

  std::string folder_;
  Budget budget_{64_MiB};
};

std::string file_of(const std::string& dictionary, const std::string& data, char major = 1) {
  std::string text("\x93NUMPY", 6);
  text += major;
  text += '\0';
  text += static_cast<char>(dictionary.size() & 255);
  text += static_cast<char>(dictionary.size() >> 8);
  if (major > 1) text += std::string(2, '\0');
  return text + dictionary + data;
}

Outcome<Header> parsed(const std::string& file) { return parse(std::as_bytes(std::span(file)), "x.npy"); }

TEST_F(Npy, WritesWhatItReads) {
  const std::vector<Field> fields = {{"i", kUint32}, {"j", kUint32}, {"distance", kUint8}};
  const std::string rows = "aaaabbbbcddddeeeef";
  {
    NpyWriter writer(OutputTarget::overwrite_any_file(path("pairs.npy")), fields, {2});
    writer.append(std::as_bytes(std::span(rows)));
    EXPECT_FALSE(std::filesystem::exists(path("pairs.npy")));
    writer.finish();
  }
  EXPECT_EQ(files(), 1u);
  const Array array = read(path("pairs.npy"));
  EXPECT_EQ(array.header().fields, fields);
  EXPECT_EQ(array.header().shape, std::vector<std::uint64_t>{2});
  EXPECT_EQ(array.header().item_bytes(), 9u);
  EXPECT_EQ(array.header().data_offset % 64, 0u);
  ASSERT_EQ(array.data().size(), rows.size());
  EXPECT_EQ(std::memcmp(array.data().data(), rows.data(), rows.size()), 0);
  EXPECT_EQ(array.header().words(), "(i uint32, j uint32, distance uint8) [2]");
}

TEST_F(Npy, LargeFilesGoThroughTheBuffer) {
  std::vector<std::uint64_t> values(400001);
  std::mt19937_64 random(1);
  for (auto& value : values) value = random();
  NpyWriter writer(OutputTarget::overwrite_any_file(path("v.npy")), {{"", kUint64}}, {values.size()});
  const auto bytes = std::as_bytes(std::span(values));
  writer.append(bytes.first(13));
  writer.append(bytes.subspan(13));
  writer.finish();
  const Array array = read(path("v.npy"));
  ASSERT_EQ(array.data().size(), bytes.size());
  EXPECT_EQ(std::memcmp(array.data().data(), bytes.data(), bytes.size()), 0);
}

TEST_F(Npy, NothingIsLeftOfAnAbandonedFile) {
  {
    NpyWriter writer(OutputTarget::overwrite_any_file(path("a.npy")), {{"", kUint64}}, {2});
    writer.append(std::as_bytes(std::span("12345678", 8)));
    EXPECT_THROW(writer.finish(), Failure);
  }
  EXPECT_EQ(files(), 0u);
  EXPECT_THROW(NpyWriter(OutputTarget::overwrite_any_file(path("no/such/a.npy")), {{"", kUint64}}, {2}), Failure);
}

TEST_F(Npy, AFullDiskLeavesTheOldFile) {
  std::ofstream(path("a.npy")) << "old";
  const std::vector<std::uint64_t> values(400'000);
  {
    const FullDisk full(1'000'000);
    NpyWriter writer(OutputTarget::overwrite_any_file(path("a.npy")), {{"", kUint64}}, {values.size()});
    const auto write = [&] {
      writer.append(std::as_bytes(std::span(values)));
      writer.finish();
    };
    EXPECT_THROW(write(), Failure);
  }
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(std::filesystem::file_size(path("a.npy")), 3u);
}

// A run that was killed leaves the old file as it was, whatever it had synced.
TEST_F(Npy, AKilledRunLeavesTheOldFile) {
  std::ofstream(path("a.npy")) << "old";
  const pid_t child = ::fork();
  if (child == 0) {
    NpyWriter writer(OutputTarget::overwrite_any_file(path("a.npy")), {{"", kUint8}}, {1});
    writer.append(std::as_bytes(std::span("x", 1)));
    writer.sync();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(std::filesystem::file_size(path("a.npy")), 3u);
  NpyWriter writer(OutputTarget::overwrite_any_file(path("a.npy")), {{"", kUint8}}, {0});
  writer.finish();
  EXPECT_EQ(read(path("a.npy")).header().items(), 0u);
}

TEST_F(Npy, NewFilesHaveUsualPermissions) {
  const mode_t mask = umask(022);
  NpyWriter writer(OutputTarget::overwrite_any_file(path("a.npy")), {{"", kUint8}}, {0});
  writer.finish();
  umask(mask);
  struct stat info {};
  ASSERT_EQ(stat(path("a.npy").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST_F(Npy, ReadsEveryVersionAndSpacing) {
  for (const char major : {'\1', '\2', '\3'}) {
    const auto header =
        parsed(file_of("{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }   \n", std::string(16, 'x'), major));
    ASSERT_TRUE(header.ok()) << header.error().message();
    EXPECT_EQ(header->items(), 2u);
  }
  EXPECT_TRUE(parsed(file_of("{\"shape\":(2,4),\"fortran_order\":False,\"descr\":\"|u1\"}", "12345678")).ok());
  EXPECT_TRUE(parsed(file_of("{'descr': '<u8', 'fortran_order': False, 'shape': ()}", "12345678")).ok());
  EXPECT_TRUE(parsed(file_of("{'descr': '<u8', 'fortran_order': True, 'shape': (1,)}", "12345678")).ok());
  EXPECT_TRUE(parsed(file_of("{'descr': '<u8', 'fortran_order': False, 'shape': (0, 9223372036854775807)}", "")).ok());
}

TEST_F(Npy, RefusesHostileHeaders) {
  const auto code = [](const std::string& dictionary, std::size_t data = 64) {
    const auto header = parsed(file_of(dictionary, std::string(data, 'x')));
    return header.ok() ? ErrorCode::internal : header.error().code;
  };
  const auto with = [](const std::string& type, const std::string& shape) {
    return "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + "}";
  };
  for (const char* shape : {"(9,)", "(9223372036854775807,)", "(99999999999999999999,)", "(4294967296, 4294967296)",
                            "(-1,)", "(1", "1", "(2305843009213693952, 2)", "('a',)", "(1,,)", "(1 1)", "()x", ""}) {
    EXPECT_EQ(code(with("'<u8'", shape)), ErrorCode::bad_data) << shape;
  }
  for (const char* type : {"'|O'", "'<U8'", "'>u8'", "'<u16'", "'<u3'", "'|S99999999999'", "'<M8[ns]'", "''", "'<f1'",
                           "[('a', '<u4', (2,))]", "[('a', [('b', '<u4')])]", "[('', '<u4')]"}) {
    EXPECT_EQ(code(with(type, "(1,)")), ErrorCode::unsupported) << type;
  }
  for (const char* type : {"8", "[", "[]", "[(", "'\\x3cu8'", "'|u8'", "None"}) {
    EXPECT_EQ(code(with(type, "(1,)")), ErrorCode::bad_data) << type;
  }
  EXPECT_EQ(code("{'descr': '<u8', 'fortran_order': True, 'shape': (2, 2)}"), ErrorCode::unsupported);
  for (const char* text : {"", "{", "}", "{}", "{'descr': '<u8'}", "{'a': 1}", "((((((((((",
                           "{'descr': '<u8', 'descr': '<u8'}", "{'descr': '<u8', 'fortran_order': 1, 'shape': (1,)}"}) {
    EXPECT_EQ(code(text), ErrorCode::bad_data) << text;
  }
  std::string many = "(";
  for (int i = 0; i < 5000; ++i) many += "1,";
  EXPECT_EQ(code(with("'<u8'", many + ")")), ErrorCode::unsupported);
}

TEST_F(Npy, EveryTruncationAndManyMutationsAreAnswered) {
  const std::string good = file_of(
      "{'descr': [('i', '<u4'), ('d', '|u1')], 'fortran_order': False, 'shape': (3, 2), }\n", std::string(30, 'x'));
  ASSERT_TRUE(parsed(good).ok());
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(parsed(good.substr(0, length)).ok()) << length;
  }
  std::mt19937 random(5);
  for (int i = 0; i < 50000; ++i) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) text[random() % 100] = static_cast<char>(random());
    const auto header = parsed(text);
    if (!header.ok()) continue;
    EXPECT_LE(header->data_offset + header->items() * header->item_bytes(), text.size());
  }
}

TEST_F(Npy, RefusesWhatIsNotAFile) {
  EXPECT_EQ(why_not(path("none.npy")), ErrorCode::not_found);
  EXPECT_EQ(why_not(folder_), ErrorCode::unsupported);
  std::ofstream(path("empty.npy")).close();
  EXPECT_EQ(why_not(path("empty.npy")), ErrorCode::bad_data);
  std::ofstream(path("text.npy")) << "this is not an array";
  EXPECT_EQ(why_not(path("text.npy")), ErrorCode::bad_data);
}

TEST_F(Npy, AnArrayReservesMemoryAndCanBeCancelled) {
  std::ofstream(path("a.npy"), std::ios::binary)
      << file_of("{'descr': '<u8', 'fortran_order': False, 'shape': (1000,)}\n", std::string(8000, 'x'));
  {
    const Array array = read(path("a.npy"));
    EXPECT_GE(budget_.used().count, 8000U);
  }
  EXPECT_EQ(budget_.used().count, 0U);
  Budget small(Bytes{4000});
  EXPECT_THROW(Array::read(path("a.npy"), small, [] { return false; }), OutOfMemory);
  EXPECT_THROW(Array::read(path("a.npy"), budget_, [] { return true; }), Failure);
}

TEST_F(Npy, AHeaderIsReadWithoutItsData) {
  const auto read = [&](const std::string& file) {
    std::ofstream(path("a.npy"), std::ios::binary) << file;
    return read_header(path("a.npy"));
  };
  const std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000,), }\n";
  const std::string file = file_of(dictionary, std::string(800'000, 'x'));
  const Header header = read(file).or_throw();
  EXPECT_EQ(header.items(), 100'000U);
  EXPECT_EQ(header.data_offset, file.size() - 800'000);
  for (const std::size_t cut :
       {file.size() - 1, file.size() - 700'000, dictionary.size(), std::size_t{5}, std::size_t{0}}) {
    EXPECT_EQ(read(file.substr(0, cut)).error().code, ErrorCode::bad_data) << cut;
  }
  EXPECT_EQ(read_header(path("none.npy")).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace millrace::npy
