// Input: a test that has started helpers.
// Output: their process ids, what /proc reports about them, and whether they are in their sandbox.
// Never: part of the program.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "src/io/file/directory_entry.h"
#include "src/io/file/folder_names.h"

namespace millrace {

// Reads the status in /proc of a process or of one of its threads; empty for one that has ended.
inline std::map<std::string, std::string> status_of(const std::filesystem::path& task) {
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

// Returns the children of this process, which are its helpers.
inline std::vector<pid_t> helpers() {
  std::vector<pid_t> out;
  const Descriptor processes(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string& name : list_names(processes.get())) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto status = status_of("/proc/" + name);
    if (status.count("PPid") > 0 && status.at("PPid") == std::to_string(::getpid()) && status.at("State")[0] != 'Z')
      out.push_back(std::stoi(name));
  }
  return out;
}

// Returns a line of a process's limits: the name, the soft limit, the hard limit.
inline std::string limit_of(pid_t pid, const std::string& name) {
  std::ifstream limits("/proc/" + std::to_string(pid) + "/limits");
  for (std::string line; std::getline(limits, line);) {
    if (line.starts_with(name)) return line;
  }
  return "";
}

// True for root with all user ids, and with the capabilities to change its own id and to end other users' processes.
inline bool can_become_nobody() {
  std::ifstream map("/proc/self/uid_map");
  std::uint64_t inside = 0, outside = 0, count = 0;
  map >> inside >> outside >> count;
  constexpr std::uint64_t kNeeded = 1U << CAP_KILL | 1U << CAP_SETUID | 1U << CAP_SETGID;
  const std::uint64_t has = std::stoull("0" + status_of("/proc/self")["CapEff"], nullptr, 16);
  return ::geteuid() == 0 && inside == 0 && count > 65534 && (has & kNeeded) == kNeeded;
}

// Checks that every thread has no capabilities, can get none, and may make only the calls that decoding needs.
inline void expect_sandboxed(pid_t pid, bool calls) {
  const std::filesystem::path process = "/proc/" + std::to_string(pid);
  int threads = 0;
  for (const auto& task : std::filesystem::directory_iterator(process / "task")) {
    auto status = status_of(task.path());
    if (status.empty()) continue;  // the thread has ended
    ++threads;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
      EXPECT_EQ(status[set], "0000000000000000") << set << " of " << task.path();
    EXPECT_EQ(status["NoNewPrivs"], "1") << task.path();
    if (calls) {
      EXPECT_EQ(status["Seccomp"], "2") << task.path();
    }
    if (can_become_nobody()) {
      EXPECT_EQ(status["Uid"].substr(0, 5), "65534") << "root gives up its number, where it may end what is nobody's";
    }
  }
  EXPECT_GT(threads, 0);
  for (const char* closed : {"Max file size", "Max core file size"})
    EXPECT_THAT(limit_of(pid, closed), testing::ContainsRegex(" 0 +0 "));
  // A process that others may not inspect belongs to root in /proc.
  struct stat about {};
  EXPECT_EQ(::stat((process / "mem").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0U);
}

}  // namespace millrace
