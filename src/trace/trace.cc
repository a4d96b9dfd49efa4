#include "src/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/sizes.h"
#include "src/trace/lane.h"

namespace millrace {
namespace {

std::atomic<std::uint64_t> next_trace_id{1}, next_thread{1};

std::int64_t nanoseconds(Clock::duration d) { return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count(); }

}  // namespace

Trace::Trace(bool keep_spans) : keep_spans_(keep_spans), start_(Clock::now()), id_(next_trace_id.fetch_add(1)) {}

Trace::~Trace() = default;

Trace::Stage& Trace::stage(const std::string& name, int width, const std::string& remedy) {
  const MutexLock lock(mutex_);
  for (Stage& stage : stages_) {
    if (stage.name_ == name) return stage;
  }
  Stage& stage = stages_.emplace_back();
  stage.owner_ = this;
  stage.name_ = name;
  stage.width_ = std::max(width, 1);
  stage.remedy_ = remedy;
  return stage;
}

double Trace::elapsed_s() const { return static_cast<double>(nanoseconds(Clock::now() - start_)) * 1e-9; }

std::vector<StageTotals> Trace::totals() const {
  const MutexLock lock(mutex_);
  std::vector<StageTotals> out;
  for (const Stage& s : stages_) {
    out.push_back({s.name_, s.width_, s.items_.load(), s.bytes_.load(), static_cast<double>(s.busy_ns_.load()) * 1e-9,
                   static_cast<double>(s.waited_ns_.load()) * 1e-9, s.remedy_});
  }
  return out;
}

std::string Trace::verdict() const { return verdict_of(totals(), elapsed_s()); }

void Trace::record(const Stage& stage, Clock::time_point begin, Clock::time_point end, bool wait) {
  if (!keep_spans_) return;
  lane().events.push_back({&stage, nanoseconds(begin - start_), nanoseconds(end - start_), wait});
}

void Trace::add_external_work(const std::string& lane, double begin_s, double end_s, std::uint64_t bytes) {
  Stage& where = stage(lane);
  where.add_items(1);
  where.add_bytes(bytes);
  const auto begin = static_cast<std::int64_t>(begin_s * 1e9), end = static_cast<std::int64_t>(end_s * 1e9);
  where.busy_ns_.fetch_add(end - begin, std::memory_order_relaxed);
  if (!keep_spans_) return;
  const MutexLock lock(mutex_);
  external_events_.push_back({&where, begin, end, false});
}

// Each thread appends to its own lane, so that a span never waits for another thread. The lane is cached from span to
// span; only a thread that alternates between several runs has to search for it.
Trace::Lane& Trace::lane() {
  thread_local std::uint64_t trace = 0;
  thread_local Lane* mine = nullptr;
  thread_local const std::uint64_t me = next_thread.fetch_add(1);  // own numbers, as the system reuses its thread ids
  if (mine != nullptr && trace == id_) return *mine;
  const MutexLock lock(mutex_);
  auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const auto& lane) { return lane->owner == me; });
  if (found == lanes_.end()) {
    lanes_.push_back(std::make_unique<Lane>(Lane{static_cast<int>(lanes_.size()), me, {}}));
    found = lanes_.end() - 1;
  }
  trace = id_;
  mine = found->get();
  return *mine;
}

Span::~Span() {
  const auto end = Clock::now();
  stage_.items_.fetch_add(1, std::memory_order_relaxed);
  stage_.busy_ns_.fetch_add(nanoseconds(end - begin_) - waited_ns_, std::memory_order_relaxed);
  stage_.waited_ns_.fetch_add(waited_ns_, std::memory_order_relaxed);
  stage_.owner_->record(stage_, begin_, end, false);
}

WaitSpan::~WaitSpan() {
  const auto end = Clock::now();
  span_.waited_ns_ += nanoseconds(end - begin_);
  span_.stage_.owner_->record(span_.stage_, begin_, end, true);
}

std::string verdict_of(const std::vector<StageTotals>& stages, double elapsed_s) {
  // The limiting stage is the one whose threads were busy for the largest share of their available time.
  const StageTotals* limit = nullptr;
  double limit_share = 0;
  for (const StageTotals& s : stages) {
    const double share = s.busy_s / std::max(elapsed_s, 1e-9) / s.width;
    if (limit == nullptr || share > limit_share) {
      limit = &s;
      limit_share = share;
    }
  }
  if (limit == nullptr || elapsed_s <= 0) return "nothing was measured";
  // A thread that waits for a device is busy in its stage. If devices account for most of that time, the device is the
  // limit.
  const StageTotals* lane = nullptr;
  double lanes_s = 0;
  for (const StageTotals& s : stages) {
    if (s.name != kToDevice && s.name != kOnDevice && s.name != kFromDevice) continue;
    lanes_s += s.busy_s;
    if (lane == nullptr || s.busy_s > lane->busy_s) lane = &s;
  }
  if (lane != nullptr && lanes_s > limit->busy_s / 2) {
    limit = lane;
    limit_share = lane->busy_s / elapsed_s;
  }
  std::string text;
  if (limit->name == kToDevice || limit->name == kFromDevice) {
    text =
        fmt::format("limited by transfers ({}, {:.0f} % of the time", limit->name, std::min(100.0, 100 * limit_share));
  } else if (limit->name == kOnDevice) {
    text = fmt::format("limited by the device (busy {:.0f} % of the time", std::min(100.0, 100 * limit_share));
  } else {
    text = fmt::format("limited by {} (busy {:.0f} % of the time on {} thread{}", limit->name,
                       std::min(100.0, 100 * limit_share), limit->width, limit->width == 1 ? "" : "s");
  }
  if (limit->bytes > 0 && limit->busy_s > 0) {
    text += fmt::format(
        ", {}/s", format_bytes(Bytes{static_cast<std::uint64_t>(static_cast<double>(limit->bytes) / limit->busy_s)}));
  }
  text += ")";
  std::string others;
  for (const StageTotals& s : stages) {
    if (&s == limit) continue;
    others += fmt::format("{}{} {:.1f} s", others.empty() ? "" : ", ", s.name, s.busy_s);
    if (s.waited_s > 0.05) others += fmt::format(" (waited {:.1f} s)", s.waited_s);
  }
  if (limit->waited_s > 0.05) text += fmt::format("; it waited {:.1f} s", limit->waited_s);
  if (!others.empty()) text += "; other stages: " + others;
  if (!limit->remedy.empty()) text += "; to try: " + limit->remedy;
  return text;
}

}  // namespace millrace
