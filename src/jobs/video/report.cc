#include "src/jobs/video/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::video {

nlohmann::ordered_json json_of(const Summary& summary, const Options& options) {
  nlohmann::ordered_json out = {{kJsonMark, "video"}};
  add_path(out, options.output);
  nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
  for (const auto& each : summary.left_out) {
    left_out.push_back({{"stream", each.stream.index},
                        {"type", each.stream.type},
                        {"codec", each.stream.codec},
                        {"language", each.stream.language},
                        {"why", each.why}});
  }
  const bool before = summary.state == Summary::State::before;
  // Of one that was there nobody has counted them.
  out["frames"] = before ? nlohmann::ordered_json() : nlohmann::ordered_json(summary.counts.frames);
  out["taken"] = summary.taken;
  out["made_before"] = before;
  out["published"] = summary.state != Summary::State::elsewhere;
  out["damaged"] = summary.counts.damaged;
  out["retimed"] = summary.counts.retimed;
  out["packets_not_decoded"] = summary.counts.errors;
  out["reused"] = summary.counts.reused;
  out["by_fast_model"] = summary.counts.by_fast_model;
  out["left_out"] = left_out;
  out["moved"] = summary.moved;
  out["not_kept"] = summary.notes;
  out["filled_in"] = summary.filled_in;
  out["encoder"] = summary.encoder;
  out["encoding"] = summary.encoding;
  out["library"] = summary.library;
  out["model"] = options.network.model.empty() ? nlohmann::ordered_json()
                                               : nlohmann::ordered_json(printable(options.network.model));
  out["runtime"] = summary.runtime;
  out["precision"] = summary.precision;
  out["bytes"] = summary.bytes;
  out["seconds"] = summary.seconds;
  return out;
}

std::vector<std::string> words_of(const Summary& summary, const Options& options) {
  std::vector<std::string> out;
  if (summary.state == Summary::State::before)
    return {fmt::format("it is there, made of the same: nothing was left to do: {}", printable(options.output))};
  for (const auto& each : summary.left_out) out.push_back(film::FilmMuxer::words_of(each));
  for (const std::string& each : summary.notes) out.push_back(each);
  if (!summary.filled_in.empty())
    out.push_back(
        fmt::format("the film does not say all of its colours; filled in: {}", fmt::join(summary.filled_in, ", ")));
  const double made = static_cast<double>(summary.made);
  out.push_back(fmt::format("{} frames in {}, {}/s, {} by {}: {}", grouped(summary.counts.frames),
                            duration_text(summary.seconds), rate_text(made / std::max(summary.seconds, 1e-9)),
                            summary.encoding, summary.encoder, printable(options.output)));
  if (summary.state == Summary::State::elsewhere)
    out.push_back(
        fmt::format("part {} of {}: pieces are missing, or other runs are at work; the run that makes the last "
                    "piece puts the film together, as does the same command without --part",
                    options.share.index + 1, options.share.of));
  if (!summary.runtime.empty())
    out.push_back(
        fmt::format("{} in {}, {}", printable(file_name(options.network.model)), summary.precision, summary.runtime));
  const auto say = [&](std::uint64_t count, const char* what) {
    if (count > 0) out.push_back(fmt::format("{} {}", grouped(count), what));
  };
  say(summary.taken, options.share ? "frames were made by other runs" : "frames were made by an earlier run");
  say(summary.counts.reused,
      "frames have the mask of one before them, as nothing in the network's input had moved enough");
  say(summary.counts.by_fast_model, "frames have the mask of the smaller network");
  if (options.smooth > 1) out.push_back(fmt::format("masks are means over {} frames: they lag", options.smooth));
  say(summary.counts.errors, "packets of the film could not be decoded");
  say(summary.counts.damaged, "frames are damaged: part of them could not be decoded");
  say(summary.moved,
      "packets of sound, subtitles or other pictures had times out of order, and were moved behind the one before");
  // Counts of containers are guesses where the rate is.
  if (summary.state == Summary::State::made && summary.expected > summary.counts.frames + 2 + summary.expected / 50)
    out.push_back(fmt::format("the film says that it has about {} frames, and ends before", grouped(summary.expected)));
  say(summary.counts.retimed,
      "frames had no time of their own, or an earlier one's, and were put right behind the one before");
  if (!summary.not_cached.empty()) out.push_back("the compiled model is not kept: " + summary.not_cached);
  return out;
}

bool is_whole(const Summary& summary) { return summary.counts.errors + summary.counts.damaged == 0; }

}  // namespace millrace::video
