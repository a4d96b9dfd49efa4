#include "src/pipeline/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "src/base/sizes.h"
#include "src/base/standard_streams.h"

namespace millrace {

Progress::Progress(ProgressTarget to, std::string what, std::uint64_t total)
    : to_(std::move(to)), what_(std::move(what)), total_(total) {
  if (to_.style == ProgressStyle::automatic) {
    to_.style = isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
  }
  if (to_.watcher || to_.style != ProgressStyle::none) thread_ = std::thread([this] { loop(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
  try {
    report(true);
  } catch (...) {  // NOLINT(bugprone-empty-catch): nothing may leave a destructor
  }
}

void Progress::loop() {
  // A log needs few lines, a terminal steady ones.
  const auto interval = to_.style == ProgressStyle::lines  ? std::chrono::milliseconds(5000)
                        : to_.style == ProgressStyle::json ? std::chrono::milliseconds(1000)
                                                           : std::chrono::milliseconds(200);
  MutexLock lock(mutex_);
  while (!stopping_) {
    stop_.wait_for(lock, interval);
    if (stopping_) return;
    // A watcher is foreign code, and no caller is above this thread: an exception of the watcher only ends the reports.
    try {
      report(false);
    } catch (...) {
      return;
    }
  }
}

void Progress::report(bool last) {
  const std::uint64_t done = done_.load();
  if (to_.watcher) return to_.watcher({what_, done, total_, bytes_.load()});
  const double seconds = watch_.seconds();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  const double left = rate > 0 && total_ > done ? static_cast<double>(total_ - done) / rate : 0;
  if (to_.style == ProgressStyle::json) {
    write_stderr(fmt::format(
        "{{\"progress\":\"{}\",\"done\":{},\"total\":{},\"bytes\":{},\"seconds\":{:.2f},\"rate\":{:.2f}}}\n", what_,
        done, total_, bytes_.load(), seconds, rate));
  } else if (to_.style == ProgressStyle::lines) {
    // Short work needs no lines: the summary follows at once.
    if (last && seconds < 5) return;
    write_stderr(fmt::format("{}: {} of {}, {}/s{}\n", what_, group_digits(done), group_digits(total_),
                             format_rate(rate), last ? "" : ", " + format_duration(left) + " left"));
  } else {
    constexpr int kCells = 24;
    const int filled = total_ == 0 ? kCells : static_cast<int>(kCells * done / total_);
    std::string bar(static_cast<std::size_t>(filled), '#');
    bar.resize(kCells, '.');
    write_stderr(fmt::format("\r\x1b[K{} [{}] {} of {}  {}/s{}{}", what_, bar, group_digits(done), group_digits(total_),
                             format_rate(rate), last ? "" : "  " + format_duration(left) + " left", last ? "\n" : ""));
  }
}

}  // namespace millrace
