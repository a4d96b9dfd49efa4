// The helper process from a user's view: killed, missing, limited in memory; and the result of decoding every format
// through it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/io/image/helper_pool.h"
#include "src/io/image/helper_process.h"
#include "src/io/process/helpers_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;

std::string little(std::uint64_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> 8 * i);
  return out;
}

// Returns a 24-bit BMP with rows from the bottom.
std::string bmp_bytes(const TestPixels& p) {
  const std::uint32_t pitch = (static_cast<std::uint32_t>(p.width) * 3 + 3) / 4 * 4;
  const std::uint32_t size = pitch * static_cast<std::uint32_t>(p.height);
  std::string out = "BM" + little(54 + size, 4) + little(0, 4) + little(54, 4) + little(40, 4) +
                    little(static_cast<std::uint32_t>(p.width), 4) + little(static_cast<std::uint32_t>(p.height), 4) +
                    little(1, 2) + little(24, 2) + little(0, 4) + little(size, 4) + little(2835, 4) + little(2835, 4) +
                    little(0, 8);
  for (int y = p.height; y-- > 0;) {
    std::string row;
    for (int x = 0; x < p.width; ++x) {
      for (int c = 2; c >= 0; --c) row += static_cast<char>(p.row(y)[3 * x + c]);
    }
    row.resize(pitch, '\0');
    out += row;
  }
  return out;
}

std::string ppm_bytes(const TestPixels& p) {
  return "P6\n" + std::to_string(p.width) + " " + std::to_string(p.height) + "\n255\n" +
         std::string(p.data.begin(), p.data.end());
}

class HelperTest : public testing::Test {
 protected:
  TestDecoding decode(const std::string& path, DecodeOptions options = {}) {
    options.helpers = &pool_;
    return decode_file(path, options);
  }

  TestFolder folder_;
  HelperPool pool_;
};

TEST_F(HelperTest, GivesTheStoredPixels) {
  const TestPixels pixels = test_pixels(61, 43, 3);
  for (const auto& bytes : {bmp_bytes(pixels), ppm_bytes(pixels)}) {
    const auto got = decode(folder_.write("a", bytes));
    ASSERT_TRUE(got.outcome) << got.outcome.error().message();
    EXPECT_EQ(got.sink.pixels, pixels.data);
    EXPECT_TRUE(got.sink.info.exact);
  }
  EXPECT_EQ(helpers().size(), 1U) << "one helper serves one file after the other";
}

TEST_F(HelperTest, OneKilledWhileIdleHarmsNoFile) {
  const std::string path = folder_.write("a.ppm", ppm_bytes(test_pixels(40, 30, 3)));
  ASSERT_TRUE(decode(path).outcome);
  for (int i = 0; i < 5; ++i) {
    for (const pid_t helper : helpers()) {
      ASSERT_EQ(::kill(helper, SIGKILL), 0);
      siginfo_t gone{};
      ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(helper), &gone, WEXITED | WNOWAIT), 0);
    }
    const auto got = decode(path);
    EXPECT_TRUE(got.outcome) << got.outcome.error().message();
  }
}

// Sends its helper a signal in the middle of a picture.
class KillingSink : public KeepingSink {
 public:
  explicit KillingSink(int signal) : signal_(signal) {}
  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    KeepingSink::rows(data, stride, count);
    for (const pid_t helper : helpers()) ::kill(helper, signal_);
  }

 private:
  int signal_;
};

TEST_F(HelperTest, OneKilledAtItsFileIsThatFilesOutcomeAlone) {
  const std::string path = folder_.write("a.ppm", ppm_bytes(test_pixels(400, 3000, 3)));
  for (const int signal : {SIGKILL, SIGALRM}) {
    auto file = FileReader::open(path);
    KillingSink sink(signal);
    const auto outcome = decode_picture(**file, {.helpers = &pool_}, sink);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, signal == SIGKILL ? ErrorCode::out_of_memory : ErrorCode::crashed);
    EXPECT_THAT(outcome.error().what, HasSubstr(signal == SIGKILL ? "killed" : "crashed"));
    EXPECT_THAT(outcome.error().remedy, HasSubstr("other files are not affected"));
    EXPECT_THAT(outcome.error().subject, HasSubstr("a.ppm"));
    EXPECT_TRUE(decode(path).outcome) << "the next file gets a new one";
  }
}

TEST_F(HelperTest, AStoppedHelperIsLeftWhenTheRunIsCancelled) {
  const std::string path = folder_.write("a.ppm", ppm_bytes(test_pixels(400, 3000, 3)));
  auto file = FileReader::open(path);
  KillingSink sink(SIGSTOP);  // silent, like a helper that a hostile file keeps busy
  DecodeOptions options;
  options.cancelled = [&] { return !sink.pixels.empty(); };
  const auto outcome = decode_picture(**file, options, sink);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(helpers().empty()) << "it was ended";
}

TEST_F(HelperTest, ASinkThatThrowsEndsItsHelper) {
  struct Throwing : KeepingSink {
    void rows(const std::uint8_t*, std::ptrdiff_t, int) override { throw std::bad_alloc(); }
  };
  const std::string path = folder_.write("a.ppm", ppm_bytes(test_pixels(40, 30, 3)));
  auto file = FileReader::open(path);
  Throwing sink;
  EXPECT_THROW((void)decode_picture(**file, {}, sink), std::bad_alloc);
  EXPECT_TRUE(helpers().empty());
  EXPECT_TRUE(decode(path).outcome);
}

TEST_F(HelperTest, RefusedPicturesCostNoHelper) {
  const std::string path = folder_.write("a.bmp", bmp_bytes(test_pixels(40, 30, 3)));
  ASSERT_TRUE(decode(path).outcome);
  const auto before = helpers();
  const auto got = decode(path, {.max_pixels = 1000});
  ASSERT_FALSE(got.outcome);
  EXPECT_EQ(got.outcome.error().code, ErrorCode::too_large);
  EXPECT_EQ(got.sink.begun, 0);
  EXPECT_TRUE(decode(path).outcome);
  EXPECT_EQ(helpers(), before);
}

TEST_F(HelperTest, AsksForMemoryBeforeItTakesIt) {
  struct Poor : KeepingSink {
    Outcome<void> prepare(Bytes memory) override {
      asked = memory;
      return Error{ErrorCode::out_of_memory, "no", "", ""};
    }
    Bytes asked;
  };
  // The header claims a size for which the file has no pixels. A decoder that allocates by it takes gigabytes.
  const std::string bytes = "RIFF" + little(30, 4) + "WEBPVP8L" + little(18, 4) + "\x2F" +
                            little(16'382 | 16'382 << 14, 4) + std::string(13, '\0');
  auto file = FileReader::open(folder_.write("a.webp", bytes));
  Poor sink;
  const auto outcome = decode_picture(**file, {}, sink);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::out_of_memory);
  EXPECT_GE(sink.asked, Bytes{16'383ULL * 16'383 * 3});
}

// A text PNM without samples: libvips's loader takes minutes to notice that, and returns a picture.
TEST_F(HelperTest, APnmIsNoPictureWithoutItsSamples) {
  for (const char* short_one :
       {"P1\n31000 31000\n0 0 0", "P2 30 30 255 1 2 3", "P3\n# a comment\n2 2\n255\n1 2 3\n4 5 6"}) {
    const auto got = decode(folder_.write("a.ppm", short_one));
    ASSERT_FALSE(got.outcome) << short_one;
    EXPECT_THAT(got.outcome.error().what, HasSubstr("too short for"));
  }
  // Complete pictures, with bits without spaces between them and numbers of one digit.
  for (const char* whole : {"P1\n4 2\n10101010", "P1 2 2 1 0 1 0\n", "P2\n2 2\n9\n1 2 3 4", "P3 1 1 9 1 2 3"}) {
    const auto got = decode(folder_.write("b.ppm", whole));
    EXPECT_TRUE(got.outcome) << whole << got.outcome.error().message();
  }
}

TEST_F(HelperTest, ABmpOfNegativeWidthIsNoBmp) {
  std::string bytes = bmp_bytes(test_pixels(4, 4, 3));
  bytes.replace(18, 4, little(0xFFFFFFF0U, 4));
  const auto got = decode(folder_.write("a.bmp", bytes));
  ASSERT_FALSE(got.outcome);
  EXPECT_EQ(got.outcome.error().code, ErrorCode::bad_data);
}

TEST_F(HelperTest, AMemoryLimitLeavesRoomForItsLibraries) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's helper has no limit";
  HelperPool tight(64_MiB);
  const auto decode = [&](const std::string& path) { return decode_file(path, {.helpers = &tight}); };
  const auto small = decode(folder_.write("a.bmp", bmp_bytes(test_pixels(100, 80, 3))));
  EXPECT_TRUE(small.outcome) << small.outcome.error().message();
  const auto streamed = decode(folder_.write("b.ppm", ppm_bytes(test_pixels(3000, 2000, 3))));
  EXPECT_TRUE(streamed.outcome) << streamed.outcome.error().message();
  // The decoder needs 108 MB at once. The sink grants it, but the limit of the system does not.
  std::string bytes = bmp_bytes(test_pixels(4, 4, 3));
  bytes.replace(18, 8, little(6'000, 4) + little(6'000, 4));
  EXPECT_FALSE(decode(folder_.write("c.bmp", bytes)).outcome);
  EXPECT_TRUE(decode(folder_.at("a.bmp")).outcome);
}

TEST_F(HelperTest, NoDescriptorAndNoProcessIsLeftBehind) {
  const std::string path = folder_.write("a.ppm", ppm_bytes(test_pixels(40, 30, 3)));
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  ASSERT_TRUE(decode(path).outcome);
  pool_.end_idle();
  const auto before = open_files();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(decode(path).outcome);
    ASSERT_FALSE(decode(folder_.write("b.ppm", "P6\n9 9\n255\n")).outcome);
    pool_.end_idle();
  }
  EXPECT_EQ(open_files(), before);
  EXPECT_TRUE(helpers().empty());
}

}  // namespace
}  // namespace millrace
