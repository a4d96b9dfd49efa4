#include "src/jobs/latents/options.h"

#include <charconv>

#include "src/base/text.h"

namespace millrace::latents {

Steps parse_steps(const std::string& text) {
  const auto refuse = [&]() -> Steps {
    throw Failure(ErrorCode::usage, "'" + printable(text) + "' is no range of steps", "--steps",
                  "write FIRST:END:STRIDE, as 0:20:2, or one step");
  };
  const std::vector<std::string> parts = split(text, ':');
  if (parts.empty() || parts.size() > 3) return refuse();
  Steps out;
  bool understood = true;
  const auto take = [&](std::size_t i, long long& value) {
    if (i >= parts.size() || (parts[i].empty() && parts.size() > 1)) return;
    const char* const last = parts[i].data() + parts[i].size();
    const auto [end, error] = std::from_chars(parts[i].data(), last, value);
    understood = understood && error == std::errc() && end == last && value >= 0;
  };
  take(0, out.first);
  take(1, out.end);
  take(2, out.stride);
  if (!understood) return refuse();
  if (parts.size() == 1) out.end = out.first + 1;
  if (out.stride < 1 || out.end <= out.first) return refuse();
  return out;
}

void describe(Settings& settings, Options& options) {
  settings.add_text("output", "DIR", "the folder of results; it is made", options.output);
  settings.heading("Which latents");
  settings.add_text("groups", "GLOB", "groups whose name fits", options.groups);
  settings.add_parsed("steps", "A:B:C", "steps from A, without B, C apart; or one step", ":",
                      [&options](const std::string& text) {
                        options.steps = parse_steps(text);
                        options.steps_text = text;
                      });
  settings.add_choice("layout", "the order of a file's axes", options.layout);
  settings.heading("Several runs");
  millrace::describe(settings, options.share);
}

}  // namespace millrace::latents
