// Input: when each stage of a job began and ended, waited, and how many bytes it moved.
// Output: totals a stage, a verdict on what limited the job, and a Chrome trace file for Perfetto.
// Never: slows a job down by more than two clock reads a span; keeps single spans only when asked to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millrace {

using Clock = std::chrono::steady_clock;

// Lanes of what runs beside this program's threads, and the stages of their totals.
inline constexpr const char *kToDevice = "to device", *kOnDevice = "on device", *kFromDevice = "from device";

// What one stage did, summed over all threads.
struct StageTotals {
  std::string name;
  int width = 1;  // how many threads may be inside at once
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  double busy_s = 0;    // inside the stage, waits left out
  double waited_s = 0;  // inside the stage, waiting for memory or for another stage
  std::string remedy;   // what to try when this stage is the limit
};

class Trace {
 public:
  // One stage's counters. Lives as long as its Trace; any thread may add to it.
  class Stage {
   public:
    void add_bytes(std::uint64_t n) { bytes_.fetch_add(n, std::memory_order_relaxed); }
    void add_items(std::uint64_t n) { items_.fetch_add(n, std::memory_order_relaxed); }

   private:
    friend class Trace;
    friend class Span;
    friend class Wait;
    Trace* owner_ = nullptr;
    std::string name_;
    std::string remedy_;
    int width_ = 1;
    std::atomic<std::uint64_t> items_{0}, bytes_{0};
    std::atomic<std::int64_t> busy_ns_{0}, waited_ns_{0};
  };

  // With `keep_spans` every span is kept for chrome_json; without, only totals are.
  explicit Trace(bool keep_spans = false);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // The stage of this name, made at the first call. `width` is how many threads may work in it at once.
  Stage& stage(const std::string& name, int width = 1, const std::string& remedy = {});

  // What something beside this program's threads did, as one item of the stage that has its lane's name; in seconds
  // since the trace began.
  void add_elsewhere(const std::string& lane, double begin_s, double end_s, std::uint64_t bytes);

  std::vector<StageTotals> totals() const;
  double elapsed_s() const;

  // One paragraph for the end of a job: which stage limited it, how much each waited, one thing to try.
  std::string verdict() const;

  // The Chrome trace event format (JSON array form), which ui.perfetto.dev opens.
  std::string chrome_json() const;

 private:
  friend class Span;
  friend class Wait;
  struct Event {
    const Stage* stage;
    std::int64_t begin_ns, end_ns;
    bool wait;
  };
  struct Lane;  // one thread's events

  void record(const Stage& stage, Clock::time_point begin, Clock::time_point end, bool wait);
  // The calling thread's.
  Lane& lane();

  const bool keep_spans_;
  const Clock::time_point start_;
  const std::uint64_t id_;
  mutable std::mutex mutex_;
  std::deque<Stage> stages_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Event> elsewhere_;
};

// Time inside a stage, from construction to destruction. Counts one item.
class Span {
 public:
  explicit Span(Trace::Stage& stage) : stage_(stage), begin_(Clock::now()) {}
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  Trace::Stage& stage() { return stage_; }

 private:
  friend class Wait;
  Trace::Stage& stage_;
  Clock::time_point begin_;
  std::int64_t waited_ns_ = 0;
};

// Time inside a Span that was spent waiting; taken off the stage's busy time.
class Wait {
 public:
  explicit Wait(Span& span) : span_(span), begin_(Clock::now()) {}
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  Span& span_;
  Clock::time_point begin_;
};

// The verdict in words from totals and the job's wall time; apart so that it can be tested on invented times.
std::string verdict_of(const std::vector<StageTotals>& stages, double elapsed_s);

}  // namespace millrace
