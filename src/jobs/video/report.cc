#include "src/jobs/video/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/report/json_path.h"

namespace millrace::video {
namespace {

void say(std::uint64_t count, const char* what, std::vector<std::string>& out) {
  if (count > 0) out.push_back(fmt::format("{} {}", grouped(count), what));
}

}  // namespace

bool is_whole(const Summary& summary) { return summary.counts.errors + summary.counts.damaged == 0; }

Json json_of(const Summary& summary, const Options& options) {
  Json out = {{kJsonMark, "video"}};
  add_path(out, options.output);
  Json left_out = Json::array();
  for (const auto& each : summary.left_out) {
    left_out.push_back({{"stream", each.stream.index},
                        {"type", each.stream.type},
                        {"codec", each.stream.codec},
                        {"language", each.stream.language},
                        {"why", each.why}});
  }
  const bool before = summary.state == Summary::State::before;
  out["frames"] = summary.counts.frames;
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
  out["model"] = options.network.model.empty() ? Json() : Json(printable(options.network.model));
  out["runtime"] = summary.runtime;
  out["precision"] = summary.precision;
  out["bytes"] = summary.bytes;
  out["seconds"] = summary.seconds;
  return out;
}

std::vector<std::string> words_of(const Summary& summary, const Options& options) {
  std::vector<std::string> out;
  if (summary.state == Summary::State::before) {
    out.push_back(fmt::format("it is there, made of the same: nothing was left to do: {}", printable(options.output)));
    say_counts(summary.counts, out);
    return out;
  }
  for (const auto& each : summary.left_out) out.push_back(film::FilmMuxer::words_of(each));
  for (const std::string& each : summary.notes) out.push_back(each);
  if (!summary.filled_in.empty())
    out.push_back(
        fmt::format("the film does not say all of its colours; filled in: {}", fmt::join(summary.filled_in, ", ")));
  const double made = static_cast<double>(summary.made);
  out.push_back(fmt::format("{} frames in {}, {}/s, {}{}{}: {}", grouped(summary.counts.frames),
                            duration_text(summary.seconds), rate_text(made / std::max(summary.seconds, 1e-9)),
                            summary.encoding, summary.encoder.empty() ? "" : " by ", summary.encoder,
                            printable(options.output)));
  if (summary.state == Summary::State::elsewhere)
    out.push_back(
        fmt::format("part {} of {}: pieces are missing, or other runs are at work; the run that makes the last "
                    "piece puts the film together, as does the same command without --part",
                    options.share.index + 1, options.share.of));
  if (!summary.runtime.empty())
    out.push_back(
        fmt::format("{} in {}, {}", printable(file_name(options.network.model)), summary.precision, summary.runtime));
  say(summary.taken, options.share ? "frames were made by other runs" : "frames were made by an earlier run", out);
  if (options.smooth > 1) out.push_back(fmt::format("masks are means over {} frames: they lag", options.smooth));
  say_counts(summary.counts, out);
  say(summary.moved,
      "packets of sound, subtitles or other pictures had times out of order, and were moved behind the one before",
      out);
  // The number of frames in a container may be a guess if the rate is.
  if (summary.state == Summary::State::made && summary.expected > summary.counts.frames + 2 + summary.expected / 50)
    out.push_back(fmt::format("the film says that it has about {} frames, and ends before", grouped(summary.expected)));
  if (!summary.not_cached.empty()) out.push_back("the compiled model is not kept: " + summary.not_cached);
  return out;
}

void say_counts(const Counts& counts, std::vector<std::string>& out) {
  say(counts.reused, "frames have the mask of one before them, as nothing in the network's input had moved enough",
      out);
  say(counts.by_fast_model, "frames have the mask of the smaller network", out);
  say(counts.errors, "packets of film could not be decoded", out);
  say(counts.damaged, "frames are damaged: part of them could not be decoded", out);
  say(counts.retimed, "frames had no time of their own, or an earlier one's, and were put right behind the one before",
      out);
}

std::vector<std::string> words_of(const CollectionSummary& summary, const Options& options) {
  std::vector<std::string> out;
  for (const Error& error : summary.unusable) out.push_back("not used: " + error.message());
  Counts counts;
  std::uint64_t before = 0, made = 0, whole = 0;
  std::string not_cached;
  for (const CollectionSummary::Film& each : summary.films) {
    counts += each.summary.counts;
    made += each.summary.made;
    ++(each.summary.state == Summary::State::before ? before : whole);
    if (!is_whole(each.summary)) out.push_back("damaged: " + printable(each.options.input()));
    not_cached = each.summary.not_cached;
  }
  out.push_back(fmt::format(
      "{} films, {} frames in {}, {}/s: {}", grouped(whole), grouped(counts.frames), duration_text(summary.seconds),
      rate_text(static_cast<double>(made) / std::max(summary.seconds, 1e-9)), printable(options.output)));
  if (summary.films.empty() && summary.unusable.empty())
    out.emplace_back("no films were found: they are taken by their endings, as docs/video.md lists them");
  if (!summary.runtime.empty())
    out.push_back(
        fmt::format("{} in {}, {}", printable(file_name(options.network.model)), summary.precision, summary.runtime));
  say(before, "were there, made of the same", out);
  say(summary.left_to_others, "are left to other parts", out);
  say(summary.links, "symbolic links were not followed: --follow-symlinks follows them", out);
  say_counts(counts, out);
  if (!not_cached.empty()) out.push_back("the compiled model is not kept: " + not_cached);
  if (!summary.unusable.empty()) out.push_back(fmt::format("{} could not be used", grouped(summary.unusable.size())));
  return out;
}

Json json_of(const CollectionSummary& summary) {
  Json films = Json::array();
  for (const CollectionSummary::Film& each : summary.films) {
    Json one, source = Json::object();
    add_path(source, each.options.input());
    one["film"] = source;
    const Json made = json_of(each.summary, each.options);
    for (const auto& [key, value] : made.items())
      if (key != kJsonMark) one[key] = value;
    films.push_back(std::move(one));
  }
  return {{kJsonMark, "video"},
          {"films", films},
          {"unusable", json_of_unusable(summary.unusable)},
          {"left_to_other_parts", summary.left_to_others},
          {"seconds", summary.seconds}};
}

bool is_whole(const CollectionSummary& summary) {
  return summary.unusable.empty() && std::all_of(summary.films.begin(), summary.films.end(),
                                                 [](const auto& each) { return is_whole(each.summary); });
}

}  // namespace millrace::video
