#include "src/io/video/packet_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace millrace::video_file {
namespace {

class PacketFileTest : public ::testing::Test {
 protected:
  ~PacketFileTest() override { std::filesystem::remove(path_); }

  void write_one() const {
    PacketFileWriter writer(path_);
    writer.append({10, 5, true, 0, {1, 2, 3}});
    writer.append({20, 5, false, 2, {4, 5, 6, 7}});
    writer.append({15, 5, false, 0, {}});
    StreamHeaders encoded{"libx", "x", "gray", R"({"encoder":"libx","codec":"x","pixels":"gray"})", {9, 9}};
    writer.commit(encoded, "a note");
  }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  const std::string path_ = ::testing::TempDir() + "packets_" + std::to_string(::getpid());
};

TEST_F(PacketFileTest, GivesBackWhatWentIn) {
  write_one();
  auto reader = PacketFileReader::open(path_).or_throw();
  ASSERT_EQ(reader.entries().size(), 3U);
  EXPECT_EQ(reader.note(), "a note");
  EXPECT_EQ(reader.encoded().encoder, "libx");
  EXPECT_EQ(reader.encoded().extradata, (std::vector<std::uint8_t>{9, 9}));
  const EncodedPacket second = reader.read(1);
  EXPECT_EQ(second.pts, 20);
  EXPECT_EQ(second.duration, 5);
  EXPECT_EQ(second.side_bytes, 2U);
  EXPECT_FALSE(second.key);
  EXPECT_EQ(second.data, (std::vector<std::uint8_t>{4, 5, 6, 7}));
  EXPECT_TRUE(reader.read(0).key);
  EXPECT_TRUE(reader.read(2).data.empty());
}

TEST_F(PacketFileTest, HasNoNameUntilItIsWhole) {
  PacketFileWriter writer(path_);
  writer.append({10, 5, true, 0, {1, 2, 3}});
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(PacketFileReader::open(path_).ok());
}

TEST_F(PacketFileTest, IsNotBelievedWhereItWasCut) {
  write_one();
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_FALSE(PacketFileReader::open(path_).ok()) << length;
  }
  put(whole + "x");
  EXPECT_FALSE(PacketFileReader::open(path_).ok());
}

// Everything after the packets is read when the file is opened, and each packet on request.
TEST_F(PacketFileTest, IsNotBelievedWhereItWasChanged) {
  write_one();
  const std::string whole = bytes();
  constexpr std::size_t kPacketsEnd = 8 + 7;
  for (std::size_t at = kPacketsEnd; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    put(changed);
    EXPECT_FALSE(PacketFileReader::open(path_).ok()) << at;
  }
  for (std::size_t at = 8; at < kPacketsEnd; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    put(changed);
    const auto reader = PacketFileReader::open(path_).or_throw();
    const std::size_t hit = at < 8 + 3 ? 0 : 1;
    EXPECT_THROW((void)reader.read(hit), Failure) << at;
    EXPECT_NO_THROW((void)reader.read(1 - hit)) << at;
  }
}

TEST_F(PacketFileTest, SurvivesWhatNoProgramWrote) {
  std::mt19937 random(1);
  for (int k = 0; k < 300; ++k) {
    std::string junk(random() % 400, '\0');
    for (char& one : junk) one = static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    put(junk);
    EXPECT_FALSE(PacketFileReader::open(path_).ok());
  }
}

}  // namespace
}  // namespace millrace::video_file
