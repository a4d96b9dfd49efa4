// What a helper can still do when a hostile file has taken it over: tests/support/walled.cc tries.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>

#include "src/io/image/helper_client.h"
#include "src/io/process/child.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;

std::map<std::string, std::string> status_of(const std::filesystem::path& task) {
  std::ifstream in(task / "status");
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of("\t ", colon + 1);
    out[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
  }
  return out;
}

// Root with all numbers and the capabilities to change its own and to end what is another's.
bool may_become_nobody() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0, outside = 0, count = 0;
  map >> inside >> outside >> count;
  constexpr std::uint64_t kNeeded = 1U << CAP_KILL | 1U << CAP_SETUID | 1U << CAP_SETGID;
  const std::uint64_t has = std::stoull("0" + status_of("/proc/self")["CapEff"], nullptr, 16);
  return ::geteuid() == 0 && inside == 0 && count > 65534 && (has & kNeeded) == kNeeded;
}

// Of every thread: no capability, none to be had, and only what decoding calls for.
void expect_walled(pid_t pid, bool calls) {
  const std::filesystem::path process = "/proc/" + std::to_string(pid);
  int threads = 0;
  for (const auto& task : std::filesystem::directory_iterator(process / "task")) {
    auto status = status_of(task.path());
    if (status.empty()) continue;  // it has ended
    ++threads;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
      EXPECT_EQ(status[set], "0000000000000000") << set << " of " << task.path();
    EXPECT_EQ(status["NoNewPrivs"], "1") << task.path();
    if (calls) {
      EXPECT_EQ(status["Seccomp"], "2") << task.path();
    }
    if (may_become_nobody()) {
      EXPECT_EQ(status["Uid"].substr(0, 5), "65534") << "root gives up its number, where it may end what is nobody's";
    }
  }
  EXPECT_GT(threads, 0);
  std::ifstream limits(process / "limits");
  int closed = 0;
  for (std::string line; std::getline(limits, line);) {
    if (line.starts_with("Max file size") || line.starts_with("Max core file size")) {
      ++closed;
      EXPECT_THAT(line, testing::ContainsRegex(" 0 +0 "));
    }
  }
  EXPECT_EQ(closed, 2);
  // What others may not look into belongs to root.
  struct stat about {};
  EXPECT_EQ(::stat((process / "mem").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0U);
}

std::vector<pid_t> helpers() {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code error;
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    const auto status = status_of(entry.path());
    if (status.count("PPid") > 0 && status.at("PPid") == std::to_string(::getpid()) && status.at("State")[0] != 'Z')
      out.push_back(std::stoi(entry.path().filename()));
  }
  return out;
}

class Walls : public testing::Test {
 protected:
  // What a helper that tries everything came to behind its walls.
  // What the walls say of its threads is looked at, too, but of one that opens files: it may keep what reads them.
  std::string attempts(const std::string& program, bool calls, bool opens = false) {
    // Anyone may write here, so that what refuses is no owner.
    const std::string path = folder_.write("there", "old");
    std::filesystem::permissions(path, std::filesystem::perms::all);
    const auto child = Child::start(program);
    if (child == nullptr) return "not started";
    auto size = static_cast<std::uint32_t>(path.size());
    if (!child->send(&size, sizeof size) || !child->send(path.data(), path.size()) ||
        !child->receive(&size, sizeof size))
      return child->obituary({"it", "it crashed", "", ""}).what;
    std::string said(size, '\0');
    if (!child->receive(said.data(), said.size())) return "no answer";
    for (const pid_t helper : helpers()) {
      if (!opens) expect_walled(helper, calls);
    }
    EXPECT_EQ(std::filesystem::file_size(path), 3U);
    return said;
  }
  TestFolder folder_;
};

TEST_F(Walls, AHelperThatWasTakenOverCanComputeAndAnswer) {
  const std::string said = attempts(MILLRACE_WALLED, !kSanitized);
  if (kSanitized) GTEST_SKIP() << "a build with sanitizers leaves out the list of calls: it did " << said;
  EXPECT_EQ(said, "m") << "and nothing before it";
}

// Behind the list of calls nobody would see that another wall has fallen.
TEST_F(Walls, TheOthersHoldWithoutTheListOfCalls) {
  if (::syscall(444, nullptr, 0, 1) < 3) GTEST_SKIP() << "this kernel's Landlock is missing, or of few rights";
  const std::string said = attempts(MILLRACE_WALLED_BUT_CALLS, false);
  EXPECT_EQ(said.back(), 'm');
  for (const char* attempt :
       {"open a file", "open its own memory", "open the program's memory", "make a file", "truncate a file",
        "make a folder", "remove a file", "rename a file", "link a file", "trace the program", "lift a limit"})
    EXPECT_THAT(said, testing::Not(HasSubstr(std::string(attempt) + "\n")));
  if (may_become_nobody()) {
    EXPECT_THAT(said, testing::Not(HasSubstr("be root again")));
  }
}

TEST_F(Walls, AReaderOfFilesReadsThemAndNothingElse) {
  const std::string said = attempts(MILLRACE_WALLED_WITH_FILES, !kSanitized, true);
  if (kSanitized) GTEST_SKIP() << "a build with sanitizers leaves out the list of calls: it did " << said;
  if (::syscall(444, nullptr, 0, 1) < 1) GTEST_SKIP() << "without Landlock it may look into what is its user's";
  EXPECT_EQ(said, "open a file\nmap code\nm");
}

TEST_F(Walls, AHelperGetsWhatItIsGivenAndNothingElse) {
  // As a careless caller leaves them open.
  const std::string secret = std::filesystem::canonical(folder_.write("secret", "token"));
  const int left_open = ::open(secret.c_str(), O_RDONLY), given = ::open("/etc/passwd", O_RDONLY);
  ASSERT_GE(std::min(left_open, given), 0);
  ::setenv("MILLRACE_SECRET", "token", 1);
  const auto child = Child::start(MILLRACE_WALLED, std::array{given});
  ::unsetenv("MILLRACE_SECRET");
  ::close(left_open);
  ::close(given);
  ASSERT_NE(child, nullptr);
  std::uint32_t size = 0;
  ASSERT_TRUE(child->send(&size, sizeof size) && child->receive(&size, sizeof size));
  const auto pids = helpers();
  ASSERT_EQ(pids.size(), 1U);
  const std::string process = "/proc/" + std::to_string(pids[0]);
  std::vector<std::string> open;
  std::error_code hidden;  // from others than root
  for (const auto& fd : std::filesystem::directory_iterator(process + "/fd", hidden))
    open.push_back(fd.path().filename());
  if (!hidden) {
    // A sanitizer's runtime has a pipe of its own.
    if (!kSanitized) {
      EXPECT_THAT(open, testing::UnorderedElementsAre("0", "1", "2", "3", "4"));
    }
    for (const std::string& fd : open)
      EXPECT_NE(std::filesystem::read_symlink(std::filesystem::path(process) / "fd" / fd), secret) << fd;
    EXPECT_EQ(std::filesystem::read_symlink(process + "/fd/0"), "/dev/null");
    std::ifstream environment(process + "/environ");
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(environment), {}),
                testing::Not(HasSubstr("MILLRACE_SECRET")));
  }
  std::ifstream stat(process + "/stat");
  std::string field;
  for (int i = 0; i < 7; ++i) stat >> field;
  EXPECT_EQ(field, "0") << "no terminal";
}

TEST_F(Walls, TheDecoderStandsBehindThemWhileItDecodes) {
  struct Looking : KeepingSink {
    std::size_t seen = 0;
    void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
      KeepingSink::rows(data, stride, count);
      const auto pids = helpers();
      seen += pids.size();
      for (const pid_t helper : pids) expect_walled(helper, !kSanitized);
    }
  };
  const TestPixels pixels = test_pixels(400, 300, 3);
  const std::string path =
      folder_.write("a.ppm", "P6\n400 300\n255\n" + std::string(pixels.data.begin(), pixels.data.end()));
  auto file = FileReader::open(path);
  Looking sink;
  EXPECT_TRUE(decode_picture(**file, {}, sink));
  EXPECT_EQ(sink.pixels, pixels.data);
  EXPECT_GT(sink.seen, 0U);
  stop_helpers();
}

// Whatever stands under the name by now: what was opened is what is decoded.
TEST_F(Walls, ThePictureThatWasOpenedIsTheOneThatIsDecoded) {
  const auto ppm = [](char value) { return "P6\n20 20\n255\n" + std::string(1200, value); };
  const std::string path = folder_.write("a.ppm", ppm('a'));
  auto file = FileReader::open(path);
  std::filesystem::rename(folder_.write("b.ppm", ppm('b')), path);
  KeepingSink sink;
  ASSERT_TRUE(decode_picture(**file, {}, sink));
  EXPECT_EQ(sink.pixels[0], 'a');
  stop_helpers();
}

}  // namespace
}  // namespace millrace
