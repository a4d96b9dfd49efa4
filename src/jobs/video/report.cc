#include "src/jobs/video/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::video {
namespace {

void add_count_line(std::uint64_t count, const char* what, std::vector<std::string>& out) {
  if (count > 0) out.push_back(fmt::format("{} {}", group_digits(count), what));
}

}  // namespace

bool is_whole(const VideoSummary& summary) { return summary.counts.errors + summary.counts.damaged == 0; }

Json json_of(const VideoSummary& summary, const VideoOptions& options) {
  Json out = {{kJsonMark, "video"}};
  add_path(out, options.output);
  Json dropped_streams = Json::array();
  for (const auto& each : summary.dropped_streams) {
    dropped_streams.push_back({{"stream", each.stream.index},
                               {"type", each.stream.type},
                               {"codec", each.stream.codec},
                               {"language", each.stream.language},
                               {"why", each.why}});
  }
  const bool before = summary.state == VideoSummary::State::before;
  out["frames"] = summary.counts.frames;
  out["taken"] = summary.taken;
  out["made_before"] = before;
  out["published"] = summary.state != VideoSummary::State::elsewhere;
  out["damaged"] = summary.counts.damaged;
  out["retimed"] = summary.counts.retimed;
  out["packets_not_decoded"] = summary.counts.errors;
  out["reused"] = summary.counts.reused;
  out["by_fast_model"] = summary.counts.by_fast_model;
  out["left_out"] = dropped_streams;
  out["moved"] = summary.moved;
  out["not_kept"] = summary.notes;
  out["filled_in"] = summary.filled_in;
  out["encoder"] = summary.encoder;
  out["encoding"] = summary.encoding;
  out["library"] = summary.library;
  out["model"] = options.network.model.empty() ? Json() : Json(escape_unprintable(options.network.model));
  out["runtime"] = summary.runtime;
  out["precision"] = summary.precision;
  out["bytes"] = summary.bytes;
  out["seconds"] = summary.seconds;
  return out;
}

std::vector<std::string> words_of(const VideoSummary& summary, const VideoOptions& options) {
  std::vector<std::string> out;
  if (summary.state == VideoSummary::State::before) {
    out.push_back(fmt::format("already complete, nothing to do: {}", escape_unprintable(options.output)));
    add_count_lines(summary.counts, out);
    return out;
  }
  for (const auto& each : summary.dropped_streams) out.push_back(video_file::VideoMuxer::words_of(each));
  for (const std::string& each : summary.notes) out.push_back(each);
  if (!summary.filled_in.empty())
    out.push_back(fmt::format("the video does not state all of its color properties; assumed: {}",
                              fmt::join(summary.filled_in, ", ")));
  const double made = static_cast<double>(summary.made);
  out.push_back(fmt::format("{} frames in {}, {}/s, {}{}{}: {}", group_digits(summary.counts.frames),
                            format_duration(summary.seconds), format_rate(made / std::max(summary.seconds, 1e-9)),
                            summary.encoding, summary.encoder.empty() ? "" : " by ", summary.encoder,
                            escape_unprintable(options.output)));
  if (summary.state == VideoSummary::State::elsewhere)
    out.push_back(
        fmt::format("part {} of {}: shards are missing, or other runs are at work; the run that makes the last shard "
                    "merges the video, as does the same command without --part",
                    options.shard_spec.index + 1, options.shard_spec.of));
  if (!summary.runtime.empty())
    out.push_back(fmt::format("{} in {}, {}", escape_unprintable(file_name(options.network.model)), summary.precision,
                              summary.runtime));
  add_count_line(summary.taken,
                 options.shard_spec ? "frames were made by other runs" : "frames were made by an earlier run", out);
  if (options.smooth > 1) out.push_back(fmt::format("masks are averaged over {} frames, so they lag", options.smooth));
  add_count_lines(summary.counts, out);
  add_count_line(
      summary.moved,
      "packets of sound, subtitles or other video had times out of order, and were moved after the packet before", out);
  // The number of frames in a container may be a guess if the rate is.
  if (summary.state == VideoSummary::State::made &&
      summary.expected > summary.counts.frames + 2 + summary.expected / 50)
    out.push_back(fmt::format("the header states about {} frames, more than were decoded: the video may be cut off",
                              group_digits(summary.expected)));
  if (!summary.cache_failure.empty()) out.push_back("the compiled model was not cached: " + summary.cache_failure);
  return out;
}

void add_count_lines(const FrameCounts& counts, std::vector<std::string>& out) {
  add_count_line(counts.reused,
                 "frames reuse the mask of an earlier frame, as the network's input had changed too little", out);
  add_count_line(counts.by_fast_model, "frames use the mask of the fast model", out);
  add_count_line(counts.errors, "packets of the video could not be decoded", out);
  add_count_line(counts.damaged, "frames are damaged: a part of them could not be decoded", out);
  add_count_line(counts.retimed,
                 "frames had no time, or one that is not after the frame before, and were placed right after it", out);
}

std::vector<std::string> words_of(const CollectionSummary& summary, const VideoOptions& options) {
  std::vector<std::string> out;
  for (const Error& error : summary.unusable) out.push_back("skipped: " + error.message());
  FrameCounts counts;
  std::uint64_t before = 0, made = 0, whole = 0;
  std::string cache_failure;
  for (const CollectionSummary::Video& each : summary.videos) {
    counts += each.summary.counts;
    made += each.summary.made;
    ++(each.summary.state == VideoSummary::State::before ? before : whole);
    if (!is_whole(each.summary)) out.push_back("damaged: " + escape_unprintable(each.options.input()));
    cache_failure = each.summary.cache_failure;
  }
  out.push_back(fmt::format("{} videos, {} frames in {}, {}/s: {}", group_digits(whole), group_digits(counts.frames),
                            format_duration(summary.seconds),
                            format_rate(static_cast<double>(made) / std::max(summary.seconds, 1e-9)),
                            escape_unprintable(options.output)));
  if (summary.videos.empty() && summary.unusable.empty())
    out.emplace_back("no videos were found: docs/video.md lists the file name endings that are searched for");
  if (!summary.runtime.empty())
    out.push_back(fmt::format("{} in {}, {}", escape_unprintable(file_name(options.network.model)), summary.precision,
                              summary.runtime));
  add_count_line(before, "were already complete", out);
  add_count_line(summary.left_to_others, "belong to other shards", out);
  add_count_line(summary.links, "symbolic links were skipped: --follow-symlinks follows them", out);
  add_count_lines(counts, out);
  if (!cache_failure.empty()) out.push_back("the compiled model was not cached: " + cache_failure);
  if (!summary.unusable.empty())
    out.push_back(fmt::format("{} files were skipped", group_digits(summary.unusable.size())));
  return out;
}

Json json_of(const CollectionSummary& summary) {
  Json videos = Json::array();
  for (const CollectionSummary::Video& each : summary.videos) {
    Json one, source = Json::object();
    add_path(source, each.options.input());
    one["film"] = source;
    const Json made = json_of(each.summary, each.options);
    for (const auto& [key, value] : made.items())
      if (key != kJsonMark) one[key] = value;
    videos.push_back(std::move(one));
  }
  return {{kJsonMark, "video"},
          {"films", videos},
          {"unusable", unusable_files_to_json(summary.unusable)},
          {"left_to_other_parts", summary.left_to_others},
          {"seconds", summary.seconds}};
}

bool is_whole(const CollectionSummary& summary) {
  return summary.unusable.empty() && std::all_of(summary.videos.begin(), summary.videos.end(),
                                                 [](const auto& each) { return is_whole(each.summary); });
}

}  // namespace millrace::video
