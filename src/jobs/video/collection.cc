#include "src/jobs/video/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/results_folder.h"
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

Place place_of(const Options& options) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(options.output, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  Place out;
  out.taken = Error{ErrorCode::conflict, "it is there, and nothing says that this program wrote it", options.output,
                    "move it away"};
  const bool files = options.shown() == Show::files;
  if (status.type() != (files ? std::filesystem::file_type::directory : std::filesystem::file_type::regular))
    throw Failure(*out.taken);
  if (files) return out;
  out.output = Output::in_place_of_anything(options.output);
  out.own_may_go = true;
  return out;
}

// Where results cannot be written the run ends: it is not the film's fault.
bool is_of_the_output(const Error& error, const Options& options) {
  return error.code == ErrorCode::io && error.subject.starts_with(options.output);
}

}  // namespace

CollectionSummary run_collection(const Options& options, RunContext& context) {
  const auto start = std::chrono::steady_clock::now();
  const Films found = find_films(options, context);
  CollectionSummary out;
  out.unusable = found.unreadable;
  Networks networks;
  // What is wrong for all of them costs no folder.
  if (!found.films.empty()) {
    Options first = found.films.front();
    check(first);
  }
  claim_folder(options.output, made_of(options, networks, context));
  for (std::size_t k = 0; k < found.films.size(); ++k) {
    const Options& film = found.films[k];
    context.throw_if_cancelled();
    if (!options.share.has(k)) {
      ++out.left_to_others;
      continue;
    }
    try {
      std::error_code error;
      const std::string folder = folder_of(film.output);
      std::filesystem::create_directories(folder, error);
      if (error) throw Failure(system_error("the folder cannot be made", folder, error.value()));
      const std::string what = fmt::format("frames of film {} of {}", k + 1, found.films.size());
      out.films.push_back({film, run(film, place_of(film), networks, context, what)});
    } catch (const Failure& failure) {
      Error error = failure.error();
      if (error.code == ErrorCode::cancelled || context.cancel.cancelled() || is_of_the_output(error, options)) throw;
      // Whatever it is about, it is this film's.
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
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

Plan plan_collection(const Options& options, RunContext& context) {
  constexpr std::size_t kMostOpened = 200;
  const Films found = find_films(options, context);
  Networks networks;
  std::optional<Guess> guess;
  Plan out;
  std::uint64_t frames = 0, bytes = 0, looked_at = 0, unusable = found.unreadable.size();
  for (const Options& film : found.films) {
    context.throw_if_cancelled();
    if (looked_at == kMostOpened) break;
    ++looked_at;
    try {
      Plan one = plan(film, place_of(film), networks, guess, context);
      frames += one.figures.at("frames").get<std::uint64_t>();
      out.seconds = out.seconds.value_or(0) + one.seconds.value_or(0);
      bytes += one.figures.value("bytes", std::uint64_t{0});
      if (one.needed() > out.needed()) out.memory = std::move(one.memory);
      out.in_flight = std::max(out.in_flight, one.in_flight);
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::cancelled) throw;
      ++unusable;
      out.lines.push_back({"not used", failure.error().message()});
    }
  }
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
