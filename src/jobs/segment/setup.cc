#include "src/jobs/segment/setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include "src/base/text.h"
#include "src/io/output/output.h"

namespace millrace::segment {

Setup set_up(const Options& options, const std::function<bool()>& cancelled) {
  Setup out = model::open_picture_model(options.network, cancelled);
  if (!options.roi.empty() && ::access(options.roi.c_str(), F_OK) != 0) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not there", printable(options.roi)), "--roi",
                  "name a picture of where to look, or a folder of them");
  }
  return out;
}

Attributes made_of(const Options& options, const Setup& setup, const model::Session& session) {
  Attributes out = {{kJsonMark, "segment run"}};
  for (auto& each : model::made_of(setup, session)) out.push_back(std::move(each));
  for (const auto& each : Attributes{{"overlap", fmt::format("{}", options.overlap)},
                                     {"importance", choice_name(options.importance)},
                                     {"pad", choice_name(options.padding)},
                                     {"write", options.write_text},
                                     {"format", choice_name(options.format)},
                                     {"skip-empty", options.skip_empty ? "true" : "false"}})
    out.push_back(each);
  return out;
}

}  // namespace millrace::segment
