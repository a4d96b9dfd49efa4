#include "src/io/process/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "src/io/file/directory_entry.h"

extern char** environ;

namespace millrace {
namespace {

// Environment of a helper: the paths of libraries and the options of sanitizers. Other variables of the user are not
// passed on.
std::vector<char*> helper_environment() {
  constexpr std::array kPassed = {"LD_LIBRARY_PATH=", "LIBHEIF_PLUGIN_PATH=", "HDF5_PLUGIN_PATH=", "VIPSHOME=",
                                  "ASAN_OPTIONS=",    "UBSAN_OPTIONS=",       "TSAN_OPTIONS=",     "LSAN_OPTIONS="};
  std::vector<char*> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (std::any_of(kPassed.begin(), kPassed.end(), [&](const char* name) { return entry.starts_with(name); }))
      out.push_back(*at);
  }
  out.push_back(nullptr);
  return out;
}

// Actions that set up a helper's descriptors, and the first error in adding one.
class FileActions {
 public:
  FileActions() { add(posix_spawn_file_actions_init(&actions_)); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void add(int failed) {
    if (failed_ == 0) failed_ = failed;
  }
  int failed() const { return failed_; }
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
  int failed_ = 0;
};

}  // namespace

int spawn(const std::string& program, std::span<const std::string> arguments,
          std::span<const std::pair<int, int>> given, pid_t& pid) {
  pid = -1;
  FileActions files;
  files.add(posix_spawn_file_actions_addopen(files.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0));
  // Descriptors are moved to high numbers first, because one of them may already have a number that the helper expects.
  std::vector<Descriptor> high;
  int last = STDERR_FILENO;
  for (const auto& [here, there] : given) {
    high.emplace_back(::fcntl(here, F_DUPFD_CLOEXEC, 16));
    if (!high.back()) return errno;
    // A helper that lacks one of these would use any file that has its number.
    files.add(posix_spawn_file_actions_adddup2(files.get(), high.back().get(), there));
    last = std::max(last, there);
  }
  files.add(posix_spawn_file_actions_addclosefrom_np(files.get(), last + 1));
  if (files.failed() != 0) return files.failed();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<char*> environment = helper_environment();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int failed =
      ::posix_spawn(&pid, program.c_str(), files.get(), &attributes, pointers.data(), environment.data());
  if (failed != 0) pid = -1;
  posix_spawnattr_destroy(&attributes);
  return failed;
}

}  // namespace millrace
