// Two runs in one process do not affect each other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "src/io/test_pictures.h"
#include "src/jobs/hash/job.h"
#include "src/jobs/join/job.h"

namespace millrace {
namespace {

std::string ppm(int width, int height, int seed) {
  std::string out = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (int i = 0; i < width * height * 3; ++i) out += static_cast<char>(i * seed / 7);
  return out;
}

// Output of `hash` for one folder, with all the state of one run.
struct HashRun {
  CancelToken cancel;
  Trace trace;
  std::string printed;
  std::uint64_t pictures = 0;
  std::string failure;
  bool went_on_after = false;

  // `stop_at` cancels the run after that many lines were printed.
  void hash(const std::string& folder, Bytes memory, int stop_at = -1) {
    const Executor executor(2, &cancel);
    Budget budget(memory);
    RunContext context{executor, cancel, trace, budget};
    const auto job = hash::make_job();
    Settings settings;
    job->describe(settings);
    settings.apply_flag("kinds", {"dhash,phash"});
    job->arguments().values->push_back(folder);
    try {
      int lines = 0;
      const Result result = job->run(context, [&](std::string_view text) {
        printed += text;
        if (++lines == stop_at) cancel.cancel();
      });
      pictures = Json::parse(result.json().at(0))["pictures"].get<std::uint64_t>();
    } catch (const Failure& failed) {
      failure = failed.what();
    }
  }
};

class TwoJobs : public testing::Test {
 protected:
  TwoJobs() {
    for (int i = 0; i < 40; ++i) {
      const std::string name = std::to_string(100 + i) + ".ppm";
      folder_.write("a-" + name, ppm(60 + i, 50, i + 1));
      others_.write("b-" + name, ppm(50, 60 + i, i + 3));
    }
  }
  TestFolder folder_, others_;
};

TEST_F(TwoJobs, GiveTheirOwnResults) {
  HashRun alone_a, alone_b;
  alone_a.hash(folder_.path(), 512_MiB);
  alone_b.hash(others_.path(), 256_MiB);
  ASSERT_EQ(alone_a.pictures, 40U);
  ASSERT_EQ(alone_b.pictures, 40U);
  for (int round = 0; round < 3; ++round) {
    HashRun a, b;
    auto first = std::async(std::launch::async, [&] { a.hash(folder_.path(), 512_MiB); });
    b.hash(others_.path(), 256_MiB);
    first.get();
    EXPECT_EQ(a.printed, alone_a.printed);
    EXPECT_EQ(b.printed, alone_b.printed);
    EXPECT_EQ(a.pictures, 40U);
  }
}

TEST_F(TwoJobs, OneThatIsStoppedLeavesTheOtherAlone) {
  HashRun alone;
  alone.hash(others_.path(), 256_MiB);
  HashRun stopped, whole;
  auto first = std::async(std::launch::async, [&] { stopped.hash(folder_.path(), 256_MiB, 3); });
  whole.hash(others_.path(), 256_MiB);
  first.get();
  EXPECT_THAT(stopped.failure, testing::HasSubstr("interrupted"));
  EXPECT_EQ(whole.failure, "");
  EXPECT_EQ(whole.printed, alone.printed);
}

// The memory of a codec is limited by its own run, whatever another run allows.
TEST_F(TwoJobs, MemoryIsEachRunsOwn) {
  HashRun small, large;
  small.hash(folder_.path(), 4_MiB);
  auto first = std::async(std::launch::async, [&] { large.hash(folder_.path(), 512_MiB); });
  HashRun again;
  again.hash(folder_.path(), 4_MiB);
  first.get();
  EXPECT_EQ(again.printed, small.printed);
  EXPECT_EQ(large.pictures, 40U);
}

}  // namespace
}  // namespace millrace
