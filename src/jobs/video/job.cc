#include "src/jobs/video/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/jobs/video/benchmark.h"
#include "src/jobs/video/contact_sheet.h"
#include "src/jobs/video/report.h"
#include "src/jobs/video/video_inputs.h"
#include "src/report/json_path.h"

namespace millrace::video {
namespace {

class VideoJob : public Job {
 public:
  Arguments arguments() override { return {"VIDEO", "video files, or folders of them", &options_.inputs}; }
  void describe(Settings& settings) override { video::describe(settings, options_); }

  void register_files(OutputRegistry& outputs) override {
    many_ = is_collection(options_);
    if (many_) {
      check_collection(options_);
    } else {
      VideoOptions checked = options_;
      check(checked);
    }
    for (const std::string& input : options_.inputs) {
      outputs.add_input(input);
      if (many_) outputs.add_input_folder(input, has_video_extension);
    }
    for (const std::string& model : {options_.network.model, options_.fast_model}) {
      if (model.empty()) continue;
      outputs.add_input(model);
      outputs.add_input(model::card_path_of(model));
      outputs.add_read_folder(folder_of(model));  // its external weight files
    }
    for (const std::string& each : {options_.network.card, options_.background_file()})
      if (!each.empty()) outputs.add_input(each);
    if (!options_.masks.empty()) outputs.add_input_folder(options_.masks, [](const std::string&) { return true; });
    if (many_) return outputs.reserve_path("--output", options_.output);
    refuse_inputs_in_shard_folder();
    if (options_.benchmark || !options_.tune.empty()) {
      outputs.add_write_folder(std::filesystem::temp_directory_path());
      tune_ = outputs.add("--tune", options_.tune, {"settings", ReadAccess::everyone, {}});
      return;
    }
    if (options_.sample > 0) {
      sheet_ = outputs.add("--output", options_.output, {"a contact sheet", ReadAccess::everyone, [](FileReader& file) {
                                                           return is_own_png(file.peek());
                                                         }});
      return;
    }
    if (options_.shown() == ShownContent::files) {
      outputs.reserve_path("--output", options_.output);
      std::error_code error;
      if (std::filesystem::exists(options_.output, error))
        target_.taken = {ErrorCode::conflict, "it already exists", options_.output, "name a new folder for the masks"};
      return;
    }
    OutputTarget film;
    try {
      film = outputs.add("--output", options_.output, {"a video", ReadAccess::everyone, {}});
      target_.replaces = film.overwrite_policy();
    } catch (const Failure& failure) {
      // An earlier run of this very command may have made the file.
      std::error_code error;
      if (failure.error().code != ErrorCode::conflict || !std::filesystem::is_regular_file(options_.output, error))
        throw;
      target_.taken = failure.error();
    }
    if (film.is_stream()) throw Failure(ErrorCode::usage, "a video cannot be written to a stream", "-o", "name a file");
  }
  OutputKind json_kind() const override {
    return {"the result of millrace video", ReadAccess::everyone, make_json_recognizer("video", {})};
  }

  Plan plan(RunContext& context) override {
    if (many_) return plan_collection(options_, context);
    Networks networks;
    std::optional<FrameEstimate> estimate;
    return video::plan(options_, target_, networks, estimate, context);
  }

  Result run(RunContext& context, const PrintLines&) override {
    if (options_.sample > 0) return run_contact_sheet(context);
    if (options_.benchmark || !options_.tune.empty()) return run_benchmark(context);
    if (many_) return run_videos(context);
    Networks networks;
    const VideoSummary summary = video::run(options_, target_, networks, context);
    Result out;
    out.summary = words_of(summary, options_);
    out.json = [summary, options = options_] { return make_json_strings(json_of(summary, options)); };
    out.exit_code = is_whole(summary) ? ExitCode::done : ExitCode::partial;
    return out;
  }

 private:
  // Refuses inputs in the folder of shards: that folder is removed with all its files when the video is complete.
  void refuse_inputs_in_shard_folder() const {
    namespace fs = std::filesystem;
    std::error_code error;
    const std::string shard_folder = fs::weakly_canonical(options_.output + ".shards", error).string() + "/";
    std::vector<std::string> inputs = options_.inputs;
    inputs.insert(inputs.end(), {options_.network.model, options_.fast_model, options_.network.card, options_.masks,
                                 options_.background_file()});
    for (const std::string& each : inputs) {
      if (each.empty() || !(fs::weakly_canonical(each, error).string() + "/").starts_with(shard_folder)) continue;
      throw Failure(ErrorCode::conflict,
                    "it lies in the folder for shards of the new video, which is removed when the video is complete",
                    each, "move it, or give the new video another name");
    }
  }

  Result run_videos(RunContext& context) {
    const CollectionSummary summary = run_collection(options_, context);
    Result out;
    out.summary = words_of(summary, options_);
    out.json = [summary] { return make_json_strings(json_of(summary)); };
    out.exit_code = is_whole(summary) ? ExitCode::done : ExitCode::partial;
    return out;
  }

  Result run_contact_sheet(RunContext& context) {
    Result out;
    const ContactSheet sampled = sample(options_, static_cast<std::uint64_t>(options_.sample), sheet_, context);
    out.summary.push_back(fmt::format("{} frames on {} x {} pixels: {}", sampled.pictures, sampled.width,
                                      sampled.height, escape_unprintable(options_.output)));
    out.json = [sampled, path = options_.output] {
      Json json = {{kJsonMark, "video"}};
      add_path(json, path);
      json["pictures"] = sampled.pictures;
      json["runtime"] = sampled.runtime;
      json["precision"] = sampled.precision;
      return make_json_strings(json);
    };
    return out;
  }

  Result run_benchmark(RunContext& context) {
    VideoOptions options = options_;
    check(options);
    const BenchmarkResult benchmarked = benchmark(options, !options.tune.empty(), context);
    Result out;
    for (const StageCost& each : benchmarked.stages)
      out.summary.push_back(fmt::format("{:<28}{:8.2f} ms of CPU per frame, by itself", each.name, each.cpu_ms));
    const double sum = benchmarked.sum_ms();
    out.summary.push_back(fmt::format("{:<28}{:8.2f} ms: on {} threads at most {:.1f} frames/s", "all stages", sum,
                                      benchmarked.cores, 1000 * benchmarked.cores / sum));
    out.summary.push_back(
        fmt::format("{:<28}{:8.2f} ms of CPU, {:.2f} ms elapsed per frame: {:.1f} frames/s, {:.0f} % of the maximum",
                    "together", benchmarked.cpu_ms, benchmarked.elapsed_ms, 1000 / benchmarked.elapsed_ms,
                    100 * sum / benchmarked.cores / benchmarked.elapsed_ms));
    out.summary.push_back(
        fmt::format("measured on {} frames; {}", group_digits(benchmarked.frames), benchmarked.verdict));
    if (tune_) {
      tune_.write(to_yaml(benchmarked));
      out.summary.push_back(fmt::format("{}: the fastest settings, for --config", escape_unprintable(options_.tune)));
    }
    out.json = [benchmarked] {
      Json stages = Json::object();
      for (const StageCost& each : benchmarked.stages) stages[each.name] = each.cpu_ms;
      return make_json_strings({{kJsonMark, "video"},
                                {"frames", benchmarked.frames},
                                {"threads", benchmarked.cores},
                                {"stages_cpu_ms", stages},
                                {"sum_cpu_ms", benchmarked.sum_ms()},
                                {"together_cpu_ms", benchmarked.cpu_ms},
                                {"together_wall_ms", benchmarked.elapsed_ms},
                                {"verdict", benchmarked.verdict}});
    };
    return out;
  }

  VideoOptions options_;
  bool many_ = false;
  VideoTarget target_;
  OutputTarget sheet_, tune_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<VideoJob>(); }

}  // namespace millrace::video
