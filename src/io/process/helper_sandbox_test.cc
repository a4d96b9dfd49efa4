// Tests what a helper that a hostile file has compromised can still do: tests/support/sandboxed.cc tries.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "src/io/image/helper_pool.h"
#include "src/io/process/child_process.h"
#include "src/io/process/helpers_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;

class HelperSandbox : public testing::Test {
 protected:
  // Returns the attempts that succeed for a helper that tries everything in its sandbox.
  std::string attempts(const std::string& program, bool calls) {
    // Anyone may write this file, so that a refusal does not come from its permissions.
    const std::string path = folder_.write("there", "old");
    std::filesystem::permissions(path, std::filesystem::perms::all);
    const auto child = ChildProcess::start(program);
    if (child == nullptr) return "not started";
    auto size = static_cast<std::uint32_t>(path.size());
    if (!child->send(&size, sizeof size) || !child->send(path.data(), path.size()) ||
        !child->receive(&size, sizeof size))
      return child->describe_exit({"it", "it crashed", "", ""}).what;
    std::string output(size, '\0');
    if (!child->receive(output.data(), output.size())) return "no answer";
    for (const pid_t helper : helpers()) expect_sandboxed(helper, calls);
    EXPECT_EQ(std::filesystem::file_size(path), 3U);
    return output;
  }
  TestFolder folder_;
};

TEST_F(HelperSandbox, ACompromisedHelperCanOnlyComputeAndAnswer) {
  const std::string output = attempts(MILLRACE_SANDBOXED, !kSanitized);
  if (kSanitized) GTEST_SKIP() << "a build with sanitizers leaves out the list of calls: it did " << output;
  EXPECT_EQ(output, "m") << "and nothing before it";
}

// With the seccomp filter in place, a failure of another layer would not be noticed.
TEST_F(HelperSandbox, TheOthersHoldWithoutTheListOfCalls) {
  if (::syscall(444, nullptr, 0, 1) < 3) GTEST_SKIP() << "this kernel's Landlock is missing, or of few rights";
  const std::string output = attempts(MILLRACE_SANDBOXED_BUT_CALLS, false);
  EXPECT_EQ(output.back(), 'm');
  for (const char* attempt :
       {"open a file", "open its own memory", "open the program's memory", "make a file", "truncate a file",
        "make a folder", "remove a file", "rename a file", "link a file", "trace the program", "lift a limit"})
    EXPECT_THAT(output, testing::Not(HasSubstr(std::string(attempt) + "\n")));
  if (can_become_nobody()) {
    EXPECT_THAT(output, testing::Not(HasSubstr("be root again")));
  }
}

TEST_F(HelperSandbox, AHelperGetsWhatItIsGivenAndNothingElse) {
  // These are open without close-on-exec, as a careless caller leaves them.
  const std::string secret = std::filesystem::canonical(folder_.write("secret", "token"));
  const int left_open = ::open(secret.c_str(), O_RDONLY), given = ::open("/etc/passwd", O_RDONLY);
  ASSERT_GE(std::min(left_open, given), 0);
  ::setenv("MILLRACE_SECRET", "token", 1);
  const auto child = ChildProcess::start(MILLRACE_SANDBOXED, std::array{given});
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
  std::error_code hidden;  // set for users other than root
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

TEST_F(HelperSandbox, TheDecoderIsSandboxedWhileItDecodes) {
  struct HelperWatcher : KeepingSink {
    std::size_t seen = 0;
    void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
      KeepingSink::rows(data, stride, count);
      const auto pids = helpers();
      seen += pids.size();
      for (const pid_t helper : pids) expect_sandboxed(helper, !kSanitized);
    }
  };
  const TestPixels pixels = test_pixels(400, 300, 3);
  const std::string path =
      folder_.write("a.ppm", "P6\n400 300\n255\n" + std::string(pixels.data.begin(), pixels.data.end()));
  auto file = FileReader::open(path);
  HelperWatcher sink;
  EXPECT_TRUE(decode_picture(**file, {}, sink));
  EXPECT_EQ(sink.pixels, pixels.data);
  EXPECT_GT(sink.seen, 0U);
}

// Another file may have the name by now, but the file that was opened is decoded.
TEST_F(HelperSandbox, ThePictureThatWasOpenedIsTheOneThatIsDecoded) {
  const auto ppm = [](char value) { return "P6\n20 20\n255\n" + std::string(1200, value); };
  const std::string path = folder_.write("a.ppm", ppm('a'));
  auto file = FileReader::open(path);
  std::filesystem::rename(folder_.write("b.ppm", ppm('b')), path);
  KeepingSink sink;
  ASSERT_TRUE(decode_picture(**file, {}, sink));
  EXPECT_EQ(sink.pixels[0], 'a');
}

}  // namespace
}  // namespace millrace
