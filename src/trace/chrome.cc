#include <fmt/format.h>

#include <algorithm>

#include "src/base/json.h"
#include "src/trace/lane.h"
#include "src/trace/trace.h"

namespace millrace {

std::string Trace::chrome_json() const {
  const MutexLock lock(mutex_);
  Json events = Json::array();
  const auto name_lane = [&](int at, const std::string& name) {
    events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", at}, {"args", {{"name", name}}}});
  };
  const auto add = [&](int lane, const Event& e) {
    events.push_back({{"name", e.wait ? e.stage->name_ + " (waiting)" : e.stage->name_},
                      {"cat", e.wait ? "wait" : "stage"},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", lane},
                      {"ts", static_cast<double>(e.begin_ns) / 1000},
                      {"dur", static_cast<double>(e.end_ns - e.begin_ns) / 1000}});
  };
  for (const auto& lane : lanes_) {
    name_lane(lane->thread, fmt::format("worker {}", lane->thread));
    for (const Event& e : lane->events) add(lane->thread, e);
  }
  std::vector<const Stage*> others;
  for (const Event& e : external_events_) {
    const auto known = std::find(others.begin(), others.end(), e.stage);
    const int lane = static_cast<int>(lanes_.size()) + static_cast<int>(known - others.begin());
    if (known == others.end()) {
      others.push_back(e.stage);
      name_lane(lane, e.stage->name_);
    }
    add(lane, e);
  }
  for (const Stage& s : stages_) {
    events.push_back({{"name", s.name_ + " totals"},
                      {"ph", "C"},
                      {"pid", 1},
                      {"tid", 0},
                      {"ts", 0},
                      {"args", {{"items", s.items_.load()}, {"bytes", s.bytes_.load()}}}});
  }
  // The first key marks the file as written by this program (src/io/output/output.h).
  return Json{{"millrace", "trace"}, {"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump();
}

}  // namespace millrace
