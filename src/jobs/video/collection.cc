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
#include "src/io/file/place.h"
#include "src/jobs/results_folder.h"
#include "src/jobs/video/earlier.h"
#include "src/jobs/video/films.h"
#include "src/jobs/video/setup.h"

namespace millrace::video {
namespace {

Attributes made_of(const Options& options, Networks& networks, RunContext& context) {
  const bool model = !options.network.model.empty(), fast = !options.fast_model.empty();
  Attributes out = {{kJsonMark, "video films"},
                    {"codec", choice_name(options.codec)},
                    {"quality", choice_name(options.quality)},
                    {"crf", options.crf ? std::to_string(*options.crf) : "auto"},
                    {"profile", choice_name(options.profile)},
                    {"container", choice_name(options.container)}};
  for (auto& each : asked(options, model ? &networks.first(options, context) : nullptr,
                          fast ? &networks.fast(options, context) : nullptr))
    out.push_back(std::move(each));
  return out;
}

// Examines the file that has the output's name, if there is one; changes nothing. Throws Failure(conflict) if the video
// cannot be written there.
Place place_of(const Options& film, const Films& films) {
  struct stat info {};
  Place out;
  out.begin_anew = true;
  if (::lstat(film.output.c_str(), &info) != 0) return out;
  out.taken = Error{ErrorCode::conflict, "it is there, and is not what an earlier run of this folder has left",
                    film.output, "move it away"};
  if (films.inodes.contains({info.st_dev, info.st_ino}))
    throw Failure(ErrorCode::conflict, "it is one of the films that are read", film.output, "name another folder");
  const bool masks = film.shown() == Show::files;
  if (masks ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode)) throw Failure(*out.taken);
  const Descriptor held(::open(film.output.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto state = held ? state_of_descriptor(held.get()) : std::nullopt;
  if (!state || !record_of(film.output)) return out;
  out.replaces.looked_at = state;
  out.is_earlier = true;
  return out;
}

}  // namespace

CollectionSummary run_collection(const Options& options, RunContext& context) {
  const Stopwatch watch;
  const Films found = find_films(options, context);
  CollectionSummary out;
  out.unusable = found.unreadable;
  out.links = found.links;
  if (found.films.empty()) return out;
  Networks networks;
  // Options that are wrong for all videos are refused before a folder is made.
  Options first = found.films.front();
  check(first);
  claim_folder(options.output, made_of(options, networks, context));
  for (std::size_t k = 0; k < found.films.size(); ++k) {
    const Options& film = found.films[k];
    context.throw_if_cancelled();
    if (!options.share.has(k)) {
      ++out.left_to_others;
      continue;
    }
    try {
      make_folder_below(options.output, folder_of(film.output));
      const std::string what = fmt::format("frames of film {} of {}", k + 1, found.films.size());
      const Place place = place_of(film, found);
      Summary summary = run(film, place, networks, context, what);
      if (!place.is_earlier || summary.state != Summary::State::before) {
        make_folder_below(options.output, folder_of(film.output));  // checks again that no link has replaced it
        write_record(film.output, {summary.digest, summary.counts});
      }
      out.films.push_back({film, std::move(summary)});
    } catch (const Failure& failure) {
      Error error = failure.error();
      if (error.code == ErrorCode::cancelled || context.cancel.cancelled()) throw;
      throw_if_nothing_can_be_written(error, options.output);
      // The error is reported for this video, whatever its subject is.
      if (error.subject != film.input() && error.subject != film.output) {
        if (!error.subject.empty()) error.what = fmt::format("{}: {}", printable(error.subject), error.what);
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

Plan plan_collection(const Options& options, RunContext& context) {
  constexpr std::size_t kMostOpened = 200;
  const Films found = find_films(options, context);
  Networks networks;
  std::optional<Guess> guess;
  Plan out;
  if (!found.films.empty()) {
    Options first = found.films.front();
    check(first);
    check_folder(options.output, made_of(options, networks, context));
  }
  // Time for starting and finishing a video, in seconds.
  constexpr double kSecondsAFilm = 0.3;
  std::uint64_t frames = 0, bytes = 0, looked_at = 0, unusable = found.unreadable.size();
  for (std::size_t k = 0; k < found.films.size() && looked_at < kMostOpened; ++k) {
    const Options& film = found.films[k];
    context.throw_if_cancelled();
    ++looked_at;
    if (!options.share.has(k)) continue;
    try {
      Plan one = plan(film, place_of(film, found), networks, guess, context);
      frames += one.figures.at("frames").get<std::uint64_t>();
      out.seconds = out.seconds.value_or(0) + one.seconds.value_or(0) + kSecondsAFilm;
      bytes += one.figures.value("bytes", std::uint64_t{0});
      if (one.needed() > out.needed()) out.memory = std::move(one.memory);
      out.in_flight = std::max(out.in_flight, one.in_flight);
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::cancelled) throw;
      ++unusable;
      out.lines.push_back({"not used", failure.error().message()});
    }
  }
  for (const Error& error : found.unreadable) out.lines.push_back({"not used", error.message()});
  out.lines.push_back({"films", grouped(found.films.size())});
  const std::string of = looked_at < found.films.size() ? fmt::format(" in the first {} films", looked_at) : "";
  out.lines.push_back({"frames", fmt::format("about {}{}", grouped(frames), of)});
  out.lines.push_back({"size", fmt::format("about {}{}", to_text(Bytes{bytes}), of)});
  if (!of.empty()) out.seconds_of = "these";
  out.figures = {{"films", found.films.size()},
                 {"looked_at", looked_at},
                 {"frames", frames},
                 {"bytes", bytes},
                 {"unusable", unusable}};
  out.threads = context.executor.threads();
  out.allowed = context.budget.limit();
  return out;
}

}  // namespace millrace::video
