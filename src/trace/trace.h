// Input: the begin, the end, the waits and the bytes moved of each stage of a job.
// Output: totals per stage, a verdict on what limited the job, and a Chrome trace file for Perfetto.
// Never: slows a job down by more than two clock reads per span. Never keeps single spans unless requested.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "src/base/mutex.h"

namespace millrace {

using Clock = std::chrono::steady_clock;

// Names of lanes for work outside of this program's threads, and of the stages that hold their totals.
inline constexpr const char *kToDevice = "to device", *kOnDevice = "on device", *kFromDevice = "from device";

// Totals of one stage, summed over all threads.
struct StageTotals {
  std::string name;
  int width = 1;  // maximum number of threads inside at once
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  double busy_s = 0;    // inside the stage, without waits
  double waited_s = 0;  // inside the stage, waiting for memory or for another stage
  std::string remedy;   // advice for when this stage is the limit
};

class Trace {
 public:
  // Counters of one stage. They live as long as the Trace; any thread may add to them.
  class Stage {
   public:
    void add_bytes(std::uint64_t n) { bytes_.fetch_add(n, std::memory_order_relaxed); }
    void add_items(std::uint64_t n) { items_.fetch_add(n, std::memory_order_relaxed); }

   private:
    friend class Trace;
    friend class Span;
    friend class WaitSpan;
    Trace* owner_ = nullptr;
    std::string name_;
    std::string remedy_;
    int width_ = 1;
    std::atomic<std::uint64_t> items_{0}, bytes_{0};
    std::atomic<std::int64_t> busy_ns_{0}, waited_ns_{0};
  };

  // Keeps every span for chrome_json if `keep_spans`; otherwise only totals.
  explicit Trace(bool keep_spans = false);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Returns the stage of this name, created at the first call. At most `width` threads may work in it at once.
  Stage& stage(const std::string& name, int width = 1, const std::string& remedy = {});

  // Adds work done outside of this program's threads as one item of the stage named `lane`. Times are in seconds since
  // the trace began.
  void add_external_work(const std::string& lane, double begin_s, double end_s, std::uint64_t bytes);

  std::vector<StageTotals> totals() const;
  double elapsed_s() const;

  // Returns one paragraph for the end of a job: the limiting stage, the busy and waiting times, and one thing to try.
  std::string verdict() const;

  // Returns the Chrome trace event format as JSON, which ui.perfetto.dev opens.
  std::string chrome_json() const;

 private:
  friend class Span;
  friend class WaitSpan;
  struct Event {
    const Stage* stage;
    std::int64_t begin_ns, end_ns;
    bool wait;
  };
  struct Lane;  // events of one thread

  void record(const Stage& stage, Clock::time_point begin, Clock::time_point end, bool wait);
  // Returns the lane of the calling thread.
  Lane& lane();

  const bool keep_spans_;
  const Clock::time_point start_;
  const std::uint64_t id_;
  mutable Mutex mutex_;
  std::deque<Stage> stages_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Lane>> lanes_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<Event> external_events_ MILLRACE_GUARDED_BY(mutex_);
};

// Measures the time inside a stage, from construction to destruction. Counts one item.
class Span {
 public:
  explicit Span(Trace::Stage& stage) : stage_(stage), begin_(Clock::now()) {}
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  Trace::Stage& stage() { return stage_; }

 private:
  friend class WaitSpan;
  Trace::Stage& stage_;
  Clock::time_point begin_;
  std::int64_t waited_ns_ = 0;
};

// Measures waiting inside a Span, which is subtracted from the stage's busy time.
class WaitSpan {
 public:
  explicit WaitSpan(Span& span) : span_(span), begin_(Clock::now()) {}
  ~WaitSpan();
  WaitSpan(const WaitSpan&) = delete;
  WaitSpan& operator=(const WaitSpan&) = delete;

 private:
  Span& span_;
  Clock::time_point begin_;
};

// Words the verdict from totals and the job's wall time. A separate function, so that tests can use invented times.
std::string verdict_of(const std::vector<StageTotals>& stages, double elapsed_s);

}  // namespace millrace
