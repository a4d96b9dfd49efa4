// Tests machines that do not see each other's locks: the files of the others are written by hand.
#include "src/pipeline/checkpoint/run_presence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>

#include "src/io/store/dataset_for_test.h"

namespace millrace {
namespace {

using for_test::files_in;
using for_test::TemporaryFolder;
using Others = RunPresence::Others;
using Claim = RunPresence::Claim;
constexpr RunPresence::Timing kQuick{std::chrono::milliseconds(5), std::chrono::milliseconds(60)};

class RunPresenceTest : public testing::Test {
 protected:
  RunPresenceTest() : opened_(::open((folder_ / "").c_str(), O_RDONLY | O_DIRECTORY)) {}

  std::unique_ptr<RunPresence> run(RunPresence::Mode mode = RunPresence::Mode::alone) const {
    return std::make_unique<RunPresence>(opened_.get(), mode, kQuick);
  }
  // Writes the file of a run of another machine.
  std::string write_other(const std::string& id, std::uint64_t number, const std::string& mode = "shared") const {
    std::string path = folder_ / ("run-" + id + ".live");
    std::ofstream(path + ".new") << fmt::format("{:020}\n{} another-boot pid:[1] 77 12345 0123 node9\n", number, mode);
    std::filesystem::rename(path + ".new", path);
    return path;
  }
  std::size_t files() const { return files_in(folder_ / "").size(); }

  const TemporaryFolder folder_{"run_presence"};
  const Descriptor opened_;
};

TEST_F(RunPresenceTest, RunsOfOneMachineSeeEachOtherAtOnce) {
  const auto one = run();
  EXPECT_EQ(one->find_others(), Others::none);
  {
    const auto two = run();
    EXPECT_EQ(one->find_others(), Others::live);
    EXPECT_EQ(two->find_others(), Others::live);
    EXPECT_NE(one->other().find(std::to_string(::getpid())), std::string::npos);
  }
  EXPECT_EQ(one->find_others(), Others::none);
  EXPECT_EQ(files(), 1U) << "its file goes with it";
}

TEST_F(RunPresenceTest, AProcessThatWasKilledIsDeadAtOnce) {
  const auto one = run();
  const pid_t child = ::fork();
  if (child == 0) {
    auto* const lost = new RunPresence(opened_.get(), RunPresence::Mode::shared, kQuick);
    lost->claim("3");
    ::kill(::getpid(), SIGKILL);
  }
  // The number of the process is still in use: a parent that never asks for its exit code leaves it so.
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(files(), 3U);
  EXPECT_EQ(one->find_others(), Others::none);
  EXPECT_EQ(one->claim("3"), Claim::mine) << "what it has claimed is taken over";
  ::waitpid(child, nullptr, 0);
}

TEST_F(RunPresenceTest, ARunOfAnotherMachineIsAliveWhileItsNumberChanges) {
  const auto one = run();
  write_other("a", 1);
  EXPECT_EQ(one->find_others(), Others::unknown);
  write_other("a", 2);
  EXPECT_EQ(one->find_others(), Others::live);
  EXPECT_NE(one->other().find("node9"), std::string::npos);
}

TEST_F(RunPresenceTest, ARunOfAnotherMachineThatStandsStillIsDeadInTheEnd) {
  const auto one = run();
  const std::string path = write_other("a", 7);
  std::ofstream(folder_ / "claim-5") << "a\n";
  EXPECT_EQ(one->claim("5"), Claim::unknown);
  EXPECT_TRUE(one->wait_and_claim("5", [] {}));
  EXPECT_EQ(one->wait_for_others(), Others::none);
  EXPECT_FALSE(std::filesystem::exists(path));
}

// Both runs see that the owner has ended; the exchange of names gives the claim to no more than one of them.
TEST_F(RunPresenceTest, OfTwoThatTakeOverADeadClaimOneGetsIt) {
  const auto one = run(), other = run();
  int taken = 0;
  for (int k = 0; k < 300; ++k) {
    const std::string what = std::to_string(k);
    std::ofstream(folder_ / ("claim-" + what)) << "gone\n";
    std::atomic<int> ready{0};
    const auto claim = [&](RunPresence& by) {
      for (++ready; ready < 2;) {
      }
      return by.claim(what) == Claim::mine;
    };
    auto beside = std::async(std::launch::async, [&] { return claim(*other); });
    const bool own = claim(*one), find_others = beside.get();
    ASSERT_FALSE(own && find_others) << "both have the claim " << what;
    taken += own || find_others ? 1 : 0;
  }
  EXPECT_GT(taken, 0);
}

TEST_F(RunPresenceTest, WaitingForAClaimCanBeInterrupted) {
  const auto one = run();
  write_other("a", 7);
  std::ofstream(folder_ / "claim-5") << "a\n";
  EXPECT_THROW(one->wait_and_claim("5", [] { throw Failure(ErrorCode::cancelled, "enough"); }), Failure);
}

TEST_F(RunPresenceTest, WaitingEndsWithASignOfLife) {
  const auto one = run();
  write_other("a", 1);
  std::atomic<bool> ended{false};
  const auto beating = std::async(std::launch::async, [&] {
    for (std::uint64_t number = 2; !ended; ++number) {
      write_other("a", number);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  // The thread that writes the numbers ends however this test does.
  struct AtEnd {
    std::atomic<bool>& ended;
    ~AtEnd() { ended = true; }
  } const at_end{ended};
  EXPECT_EQ(one->wait_for_others(), Others::live);
}

TEST_F(RunPresenceTest, EachFindsRunsThatExcludeIt) {
  const auto shared = run(RunPresence::Mode::shared);
  write_other("a", 1, "shared");
  EXPECT_EQ(shared->find_others(), Others::none);
  for (const char* mode : {"alone", "last"}) {
    write_other("b", 1, mode);
    EXPECT_EQ(shared->find_others(), Others::unknown) << mode;
  }
  write_other("a", 1, "last");
  EXPECT_EQ(run(RunPresence::Mode::last)->find_others(), Others::live) << "the shared one";
}

TEST_F(RunPresenceTest, OfTwoThatWouldBeTheLastOneGetsTheClaim) {
  const auto one = run(RunPresence::Mode::last), two = run(RunPresence::Mode::last);
  EXPECT_EQ(one->find_others(), Others::none);
  EXPECT_EQ(two->find_others(), Others::none);
  EXPECT_EQ(one->claim("whole"), Claim::mine);
  EXPECT_EQ(two->claim("whole"), Claim::taken);
  EXPECT_FALSE(RunPresence::is_claim_of_shard("claim-whole")) << "nobody tidies it away";
}

TEST_F(RunPresenceTest, OnceItHasChangedItIsAliveUntilItStandsStill) {
  const auto one = run();
  write_other("a", 1);
  EXPECT_EQ(one->find_others(), Others::unknown);
  write_other("a", 2);
  EXPECT_EQ(one->find_others(), Others::live);
  EXPECT_EQ(one->find_others(), Others::live) << "between two beats";
  std::this_thread::sleep_for(2 * kQuick.dead_after);
  EXPECT_EQ(one->find_others(), Others::none);
}

TEST_F(RunPresenceTest, AClaimIsOneRunsAlone) {
  const auto one = run(), two = run();
  EXPECT_EQ(one->claim("0"), Claim::mine);
  EXPECT_EQ(one->claim("0"), Claim::mine) << "it has it already";
  EXPECT_EQ(two->claim("0"), Claim::taken);
  EXPECT_EQ(two->claim("1"), Claim::mine);
  one->release_claim("0");
  EXPECT_EQ(two->claim("0"), Claim::mine);
  one->release_claim("0");
  EXPECT_EQ(run()->claim("0"), Claim::taken) << "nobody gives up another's claim";
}

TEST_F(RunPresenceTest, FilesOfSomebodyElseAreNoRuns) {
  const auto one = run();
  ASSERT_EQ(::mkfifo((folder_ / "run-b.live").c_str(), 0600), 0);
  std::filesystem::create_directory(folder_ / "run-c.live");
  std::filesystem::create_symlink("/etc/passwd", folder_ / "run-d.live");
  EXPECT_EQ(one->find_others(), Others::none);
  // An empty file was truncated: its run may be alive until the file has not changed for long enough.
  std::ofstream(folder_ / "run-e.live") << "";
  EXPECT_EQ(one->find_others(), Others::unknown);
  EXPECT_EQ(one->wait_for_others(), Others::none);
}

TEST_F(RunPresenceTest, NamesAreNoPartsOfAnOutput) {
  EXPECT_TRUE(RunPresence::is_presence_file("run-00.live"));
  EXPECT_TRUE(RunPresence::is_presence_file("claim-17"));
  for (const char* other : {"run.json", "run.lock", "runs.json", "0.h5", "claims"})
    EXPECT_FALSE(RunPresence::is_presence_file(other));
}

}  // namespace
}  // namespace millrace
