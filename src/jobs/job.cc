#include "src/jobs/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"

namespace millrace {

Bytes Plan::total_memory() const {
  Bytes sum;
  for (const Need& need : memory) sum = sum + need.size;
  return sum;
}

std::string text_of(const Plan& plan) {
  std::vector<Plan::Line> lines = plan.lines;
  if (plan.threads > 0) lines.push_back({"threads", fmt::format("{}", plan.threads)});
  if (plan.in_flight > 0) lines.push_back({"in flight", fmt::format("{} at once", group_digits(plan.in_flight))});
  if (!plan.memory.empty()) {
    std::vector<std::string> purposes;
    for (const Plan::Need& need : plan.memory) {
      if (need.size.count > 0) purposes.push_back(fmt::format("{} {}", format_bytes(need.size), need.purpose));
    }
    lines.push_back({"memory", fmt::format("about {} of {} allowed: {}{}", format_bytes(plan.total_memory()),
                                           format_bytes(plan.allowed), fmt::join(purposes, ", "),
                                           plan.more_memory.empty() ? "" : "; " + plan.more_memory)});
  }
  if (plan.seconds) {
    lines.push_back({"time", fmt::format("about {}{}", format_duration(*plan.seconds),
                                         plan.timed_step.empty() ? "" : " for " + plan.timed_step)});
  }
  std::size_t width = 0;
  for (const Plan::Line& line : lines) width = std::max(width, line.name.size() + 1);
  std::string out = plan.items;
  for (const Plan::Line& line : lines) {
    out += line.name.empty() ? line.words + "\n" : fmt::format("{:{}}  {}\n", line.name + ":", width, line.words);
  }
  return out;
}

std::string json_of(const Plan& plan, std::string_view job) {
  Json out = plan.figures;
  if (plan.threads > 0) {
    out["device"] = plan.device;
    out["threads"] = plan.threads;
  }
  if (plan.in_flight > 0) out["in_flight"] = plan.in_flight;
  if (!plan.memory.empty()) {
    Json purposes = Json::object();
    for (const Plan::Need& need : plan.memory) purposes[need.purpose] = need.size.count;
    out["memory"] = {{"needed", plan.total_memory().count}, {"allowed", plan.allowed.count}, {"purposes", purposes}};
  }
  if (plan.seconds) out["seconds"] = *plan.seconds;
  return Json{{kJsonMark, job}, {"plan", out}}.dump(1) + "\n";
}

std::vector<std::string> make_json_strings(const Json& object) { return {object.dump(1) + "\n"}; }

// Inserts the key before the closing brace: every result ends with the brace of its single object.
std::vector<std::string> add_key(std::vector<std::string> strings, std::string_view key, const Json& value) {
  if (strings.empty()) return strings;
  std::string& last = strings.back();
  const std::size_t brace = last.rfind('}');
  if (brace == std::string::npos) return strings;
  const std::size_t end = last.find_last_not_of(" \n", brace - 1);
  last.insert(end + 1, fmt::format(",\n \"{}\": {}", key, value.dump()));
  return strings;
}

}  // namespace millrace
