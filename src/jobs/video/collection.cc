#include "src/jobs/video/collection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/jobs/results_folder.h"
#include "src/jobs/video/output_record.h"
#include "src/jobs/video/setup.h"
#include "src/jobs/video/video_inputs.h"

namespace millrace::video {
namespace {

Attributes make_provenance(const VideoOptions& options, Networks& networks, RunContext& context) {
  const bool model = !options.network.model.empty(), fast = !options.fast_model.empty();
  Attributes out = {{kJsonMark, "video films"},
                    {"codec", choice_name(options.codec)},
                    {"quality", choice_name(options.quality)},
                    {"crf", options.crf ? std::to_string(*options.crf) : "auto"},
                    {"profile", choice_name(options.profile)},
                    {"container", choice_name(options.container)}};
  for (auto& each : make_shared_provenance(options, model ? &networks.first(options, context) : nullptr,
                                           fast ? &networks.fast(options, context) : nullptr))
    out.push_back(std::move(each));
  return out;
}

// Examines the file that has the output's name, if there is one; changes nothing. Throws Failure(conflict) if the video
// cannot be written there.
VideoTarget inspect_target(const VideoOptions& film, const VideoInputs& videos) {
  struct stat info {};
  VideoTarget out;
  out.begin_anew = true;
  if (::lstat(film.output.c_str(), &info) != 0) return out;
  out.taken = Error{ErrorCode::conflict, "it already exists, and is not an unchanged output of an earlier run",
                    film.output, "move it away"};
  if (videos.inodes.contains({info.st_dev, info.st_ino}))
    throw Failure(ErrorCode::conflict, "it is one of the input videos", film.output, "name another folder");
  const bool masks = film.shown() == ShownContent::files;
  if (masks ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode)) throw Failure(*out.taken);
  const Descriptor held(::open(film.output.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto state = held ? state_of_descriptor(held.get()) : std::nullopt;
  if (!state || !read_output_record(film.output)) return out;
  out.replaces.examined = state;
  out.is_from_previous_run = true;
  return out;
}

}  // namespace

CollectionSummary run_collection(const VideoOptions& options, RunContext& context) {
  const Stopwatch watch;
  const VideoInputs found = find_videos(options, context);
  CollectionSummary out;
  out.unusable = found.unreadable;
  out.links = found.links;
  if (found.videos.empty()) return out;
  Networks networks;
  // Options that are wrong for all videos are refused before a folder is made.
  VideoOptions first = found.videos.front();
  check(first);
  claim_folder(options.output, make_provenance(options, networks, context));
  for (std::size_t k = 0; k < found.videos.size(); ++k) {
    const VideoOptions& film = found.videos[k];
    context.throw_if_cancelled();
    if (!options.shard_spec.has_shard(k)) {
      ++out.left_to_others;
      continue;
    }
    try {
      make_folder_below(options.output, folder_of(film.output));
      const std::string what = fmt::format("frames of video {} of {}", k + 1, found.videos.size());
      const VideoTarget target = inspect_target(film, found);
      VideoSummary summary = run(film, target, networks, context, what);
      if (!target.is_from_previous_run || summary.state != VideoSummary::State::before) {
        make_folder_below(options.output, folder_of(film.output));  // checks again that no link has replaced it
        write_output_record(film.output, {summary.digest, summary.counts});
      }
      out.videos.push_back({film, std::move(summary)});
    } catch (const Failure& failure) {
      Error error = failure.error();
      if (error.code == ErrorCode::cancelled || context.cancel.cancelled()) throw;
      throw_if_nothing_can_be_written(error, options.output);
      // The error is reported for this video, whatever its subject is.
      if (error.subject != film.input() && error.subject != film.output) {
        if (!error.subject.empty()) error.what = fmt::format("{}: {}", escape_unprintable(error.subject), error.what);
        error.subject = film.input();
      }
      spdlog::warn("{}", error.message());
      out.unusable.push_back(std::move(error));
    }
  }
  if (!options.network.model.empty()) {
    out.runtime = networks.first(options, context).session.runtime();
    out.precision = networks.first(options, context).session.precision();
  }
  out.seconds = watch.seconds();
  return out;
}

Plan plan_collection(const VideoOptions& options, RunContext& context) {
  constexpr std::size_t kMaxOpened = 200;
  const VideoInputs found = find_videos(options, context);
  Networks networks;
  std::optional<FrameEstimate> estimate;
  Plan out;
  if (!found.videos.empty()) {
    VideoOptions first = found.videos.front();
    check(first);
    check_folder(options.output, make_provenance(options, networks, context));
  }
  // Time for starting and finishing a video, in seconds.
  constexpr double kSecondsPerVideo = 0.3;
  std::uint64_t frames = 0, bytes = 0, examined = 0, unusable = found.unreadable.size();
  for (std::size_t k = 0; k < found.videos.size() && examined < kMaxOpened; ++k) {
    const VideoOptions& film = found.videos[k];
    context.throw_if_cancelled();
    ++examined;
    if (!options.shard_spec.has_shard(k)) continue;
    try {
      Plan one = plan(film, inspect_target(film, found), networks, estimate, context);
      frames += one.figures.at("frames").get<std::uint64_t>();
      out.seconds = out.seconds.value_or(0) + one.seconds.value_or(0) + kSecondsPerVideo;
      bytes += one.figures.value("bytes", std::uint64_t{0});
      if (one.total_memory() > out.total_memory()) out.memory = std::move(one.memory);
      out.in_flight = std::max(out.in_flight, one.in_flight);
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::cancelled) throw;
      ++unusable;
      out.lines.push_back({"skipped", failure.error().message()});
    }
  }
  for (const Error& error : found.unreadable) out.lines.push_back({"skipped", error.message()});
  out.lines.push_back({"videos", group_digits(found.videos.size())});
  const std::string of = examined < found.videos.size() ? fmt::format(" in the first {} videos", examined) : "";
  out.lines.push_back({"frames", fmt::format("about {}{}", group_digits(frames), of)});
  out.lines.push_back({"size", fmt::format("about {}{}", format_bytes(Bytes{bytes}), of)});
  if (!of.empty()) out.timed_step = "these videos";
  out.figures = {{"films", found.videos.size()},
                 {"looked_at", examined},
                 {"frames", frames},
                 {"bytes", bytes},
                 {"unusable", unusable}};
  out.threads = context.executor.threads();
  out.allowed = context.budget.limit();
  return out;
}

}  // namespace millrace::video
