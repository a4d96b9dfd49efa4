#include "src/jobs/video/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/jobs/video/benchmark.h"
#include "src/jobs/video/run.h"
#include "src/jobs/video/sample.h"
#include "src/report/json_path.h"

namespace millrace::video {
namespace {

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
  out["frames"] = summary.counts.frames;
  out["taken"] = summary.taken;
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

class VideoJob : public Job {
 public:
  Arguments arguments() override { return {"FILM", "the film", &options_.inputs}; }
  void describe(Settings& settings) override { video::describe(settings, options_); }

  void look_at(Outputs& outputs) override {
    Options checked = options_;
    check(checked);
    for (const std::string& input : options_.inputs) outputs.input(input);
    for (const std::string& model : {options_.network.model, options_.fast_model}) {
      if (model.empty()) continue;
      outputs.input(model);
      outputs.input(model::card_beside(model));
    }
    for (const std::string& each : {options_.network.card, options_.background_file()})
      if (!each.empty()) outputs.input(each);
    if (!options_.masks.empty()) outputs.input_folder(options_.masks, [](const std::string&) { return true; });
    refuse_inputs_in_pieces();
    if (options_.benchmark || !options_.tune.empty()) {
      tune_ = outputs.add("--tune", options_.tune, {"settings", Readers::everyone, {}});
      return;
    }
    if (options_.sample > 0) {
      output_ = outputs.add("--output", options_.output,
                            {"a sheet", Readers::everyone, [](FileReader& file) { return is_own_png(file.peek()); }});
      return;
    }
    if (options_.shown() == Show::files) {
      outputs.take_name("--output", options_.output);
      std::error_code error;
      if (std::filesystem::exists(options_.output, error))
        throw Failure(ErrorCode::conflict, "it is there", options_.output, "give a new folder for the masks");
      return;
    }
    output_ = outputs.add("--output", options_.output, {"a film", Readers::everyone, {}});
    if (output_.is_stream())
      throw Failure(ErrorCode::usage, "a film is not written from front to back", "-o", "name a file");
  }
  OutputKind json_kind() const override {
    return {"the result of millrace video", Readers::everyone, json_result("video", {})};
  }

  Plan plan(RunContext& context) override { return video::plan(options_, context); }

  Result run(RunContext& context, const Print&) override {
    Result out;
    if (options_.sample > 0) return sheet(context);
    if (options_.benchmark || !options_.tune.empty()) return measured(context);
    const Summary summary = video::run(options_, output_, context);
    for (const auto& each : summary.left_out) out.summary.push_back(film::FilmMuxer::words_of(each));
    for (const std::string& each : summary.notes) out.summary.push_back(each);
    if (!summary.filled_in.empty())
      out.summary.push_back(
          fmt::format("the film does not say all of its colours; filled in: {}", fmt::join(summary.filled_in, ", ")));
    const double made = static_cast<double>(summary.counts.frames - summary.taken);
    out.summary.push_back(fmt::format("{} frames in {}, {}/s, {} by {}: {}", grouped(summary.counts.frames),
                                      duration_text(summary.seconds), rate_text(made / std::max(summary.seconds, 1e-9)),
                                      summary.encoding, summary.encoder, printable(options_.output)));
    if (!summary.runtime.empty())
      out.summary.push_back(fmt::format("{} in {}, {}", printable(file_name(options_.network.model)), summary.precision,
                                        summary.runtime));
    const auto say = [&](std::uint64_t count, const char* what) {
      if (count > 0) out.summary.push_back(fmt::format("{} {}", grouped(count), what));
    };
    say(summary.taken, "frames were made by an earlier run");
    say(summary.counts.reused,
        "frames have the mask of one before them, as nothing in the network's input had moved enough");
    say(summary.counts.by_fast_model, "frames have the mask of the smaller network");
    if (options_.smooth > 1)
      out.summary.push_back(fmt::format("masks are means over {} frames: they lag", options_.smooth));
    say(summary.counts.errors, "packets of the film could not be decoded");
    say(summary.counts.damaged, "frames are damaged: part of them could not be decoded");
    say(summary.moved,
        "packets of sound, subtitles or other pictures had times out of order, and were moved behind the one before");
    // Counts of containers are guesses where the rate is.
    if (summary.expected > summary.counts.frames + 2 + summary.expected / 50)
      out.summary.push_back(
          fmt::format("the film says that it has about {} frames, and ends before", grouped(summary.expected)));
    say(summary.counts.retimed,
        "frames had no time of their own, or an earlier one's, and were put right behind the one before");
    if (!summary.not_cached.empty()) out.summary.push_back("the compiled model is not kept: " + summary.not_cached);
    out.json = [summary, options = options_] { return json_pieces(json_of(summary, options)); };
    out.exit_code = summary.counts.errors + summary.counts.damaged > 0 ? ExitCode::partial : ExitCode::done;
    return out;
  }

 private:
  // The folder of pieces goes when the film is made, with all that lies in it.
  void refuse_inputs_in_pieces() const {
    namespace fs = std::filesystem;
    std::error_code error;
    const std::string pieces = fs::weakly_canonical(options_.output + ".shards", error).string() + "/";
    std::vector<std::string> inputs = options_.inputs;
    inputs.insert(inputs.end(), {options_.network.model, options_.fast_model, options_.network.card, options_.masks,
                                 options_.background_file()});
    for (const std::string& each : inputs) {
      if (each.empty() || !(fs::weakly_canonical(each, error).string() + "/").starts_with(pieces)) continue;
      throw Failure(ErrorCode::conflict,
                    "it lies where the pieces of the new film are made, which go when that is done", each,
                    "move it, or give the film another name");
    }
  }

  Result sheet(RunContext& context) {
    Result out;
    const Sampled sampled = sample(options_, static_cast<std::uint64_t>(options_.sample), output_, context);
    out.summary.push_back(fmt::format("{} pictures on {} x {} pixels: {}", sampled.pictures, sampled.width,
                                      sampled.height, printable(options_.output)));
    out.json = [sampled, path = options_.output] {
      nlohmann::ordered_json json = {{kJsonMark, "video"}};
      add_path(json, path);
      json["pictures"] = sampled.pictures;
      json["runtime"] = sampled.runtime;
      json["precision"] = sampled.precision;
      return json_pieces(json);
    };
    return out;
  }

  Result measured(RunContext& context) {
    Options options = options_;
    check(options);
    const Benchmarked benchmarked = benchmark(options, !options.tune.empty(), context);
    Result out;
    for (const StageCost& each : benchmarked.stages)
      out.summary.push_back(fmt::format("{:<28}{:8.2f} ms of CPU a frame, by itself", each.name, each.cpu_ms));
    const double sum = benchmarked.sum_ms();
    out.summary.push_back(fmt::format("{:<28}{:8.2f} ms: on {} threads {:.1f} frames/s at the best", "all of them", sum,
                                      benchmarked.cores, 1000 * benchmarked.cores / sum));
    out.summary.push_back(
        fmt::format("{:<28}{:8.2f} ms of CPU, {:.2f} ms a frame: {:.1f} frames/s, {:.0f} % of the best", "together",
                    benchmarked.cpu_ms, benchmarked.wall_ms, 1000 / benchmarked.wall_ms,
                    100 * sum / benchmarked.cores / benchmarked.wall_ms));
    out.summary.push_back(fmt::format("of {} frames; {}", grouped(benchmarked.frames), benchmarked.verdict));
    if (tune_) {
      tune_.write(yaml_of(benchmarked));
      out.summary.push_back(fmt::format("{}: the fastest settings, for --config", printable(options_.tune)));
    }
    out.json = [benchmarked] {
      nlohmann::ordered_json stages = nlohmann::ordered_json::object();
      for (const StageCost& each : benchmarked.stages) stages[each.name] = each.cpu_ms;
      return json_pieces({{kJsonMark, "video"},
                          {"frames", benchmarked.frames},
                          {"threads", benchmarked.cores},
                          {"stages_cpu_ms", stages},
                          {"sum_cpu_ms", benchmarked.sum_ms()},
                          {"together_cpu_ms", benchmarked.cpu_ms},
                          {"together_wall_ms", benchmarked.wall_ms},
                          {"verdict", benchmarked.verdict}});
    };
    return out;
  }

  Options options_;
  Output output_, tune_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<VideoJob>(); }

}  // namespace millrace::video
