// Input: the amount of work, and how much of it is done.
// Output: a bar on a terminal, plain lines in a log, or JSON lines, all on stderr; or calls of a watcher.
// Never: writes to stdout.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "src/base/choice.h"
#include "src/base/mutex.h"
#include "src/base/stopwatch.h"

namespace millrace {

enum class ProgressStyle { automatic, bar, lines, json, none };
constexpr std::array<Choice<ProgressStyle>, 5> choices_of(ProgressStyle) {
  return {{{"auto", ProgressStyle::automatic},
           {"bar", ProgressStyle::bar},
           {"lines", ProgressStyle::lines},
           {"json", ProgressStyle::json},
           {"none", ProgressStyle::none}}};
}

// Progress of one stage of a job: items, and bytes if it counts them. `total` may be a guess.
struct ProgressReport {
  std::string stage;
  std::uint64_t done = 0, total = 0, bytes = 0;
};

// Destination of progress: stderr in a style, or a watcher, from a thread of its own.
struct ProgressTarget {
  ProgressTarget(ProgressStyle to_stderr) : style(to_stderr) {}  // NOLINT(google-explicit-constructor)
  explicit ProgressTarget(std::function<void(const ProgressReport&)> to) : watcher(std::move(to)) {}

  ProgressStyle style = ProgressStyle::none;
  std::function<void(const ProgressReport&)> watcher;
};

class Progress {
 public:
  // Starts reporting at once; the destructor reports the end. `automatic` is a bar on a terminal, else lines.
  Progress(ProgressTarget to, std::string what, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Sets a total that becomes known only during the work; a guess is better than nothing.
  void set_total(std::uint64_t total) { total_.store(total, std::memory_order_relaxed); }
  void add(std::uint64_t items, std::uint64_t bytes = 0) {
    done_.fetch_add(items, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  void report(bool last);
  void loop();

  ProgressTarget to_;
  std::string what_;
  std::atomic<std::uint64_t> total_, done_{0}, bytes_{0};
  Stopwatch watch_;
  Mutex mutex_;
  Condition stop_;
  bool stopping_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace millrace
