#include "src/jobs/video/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/video/join.h"
#include "src/jobs/video/masking.h"
#include "src/jobs/video/output_record.h"
#include "src/jobs/video/video_shard_writer.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::video {
namespace {

std::optional<OutputRecord> read_previous_output(const VideoOptions& options, RunContext& context) {
  return options.shown() == ShownContent::files ? read_masks_record(options.output)
                                                : read_video_tag(options.output, context);
}

class Run {
 public:
  Run(const VideoOptions& options, const VideoTarget& target, Networks& networks, RunContext& context, std::string what)
      : target_(target), context_(context), what_(std::move(what)), setup_(options, networks, context) {}

  Setup& setup() { return setup_; }

  // Returns the counts of an existing output with the same provenance; nothing if there is no output. Throws
  // Failure(conflict) if its provenance differs.
  std::optional<OutputRecord> find_previous_output() const {
    // With --part an output that may be replaced is checked too: other runs may have merged it in the meantime.
    const bool is_replaceable = !target_.taken && shard_spec() && target_.replaces.examined;
    if (!target_.taken && !is_replaceable) return std::nullopt;
    const std::string& path = setup_.options.output;
    auto previous = read_previous_output(setup_.options, context_);
    if (previous && previous->digest == setup_.digest()) return previous;
    if (is_replaceable || target_.is_from_previous_run) return std::nullopt;
    if (!previous) throw Failure(*target_.taken);
    std::string different = "from other inputs or options";
    if (!setup_.muxer) {
      const auto then = read_json_attributes(join_path(path, RunFolder::kRunFile));
      if (then) different = describe_differences(*then, setup_.make_provenance());
    }
    throw Failure(ErrorCode::conflict, "it already exists and was made differently: " + different, path,
                  target_.taken->remedy);
  }

  VideoSummary run() {
    const Stopwatch watch;
    summary_.filled_in = setup_.filled_in;
    if (setup_.muxer) summary_.dropped_streams = setup_.muxer->dropped_streams();
    summary_.notes = setup_.notes;
    summary_.library = setup_.film.library;
    summary_.expected = setup_.expected_frames();
    summary_.encoding = setup_.encoding.words;
    if (setup_.network) {
      summary_.runtime = setup_.network->session.runtime();
      summary_.precision = setup_.network->session.precision();
      summary_.cache_failure = setup_.network->session.cache_failure();
    }
    if (const auto previous = find_previous_output()) {
      RunFolder left(setup_.options.output);
      remove_leftover_folder(left, setup_.make_provenance());
      take(*previous);
      return std::move(summary_);
    }
    // Warns before hours of work, not after them.
    for (const std::string& each : summary_.notes) spdlog::warn("{}", each);
    for (const auto& each : summary_.dropped_streams) spdlog::warn("{}", video_file::VideoMuxer::words_of(each));
    work();
    if (summary_.state == VideoSummary::State::before) return std::move(summary_);
    summary_.seconds = watch.seconds();
    return std::move(summary_);
  }

 private:
  void take(const OutputRecord& previous) {
    summary_.state = VideoSummary::State::before;
    summary_.counts = previous.counts;
    summary_.digest = previous.digest;
  }

  // True if another run has published the video since this run looked for it.
  bool has_other_run_published() {
    std::error_code error;
    const bool is_replaceable = target_.replaces.examined.has_value();
    if (target_.taken || (is_replaceable && !shard_spec()) ||
        !std::filesystem::exists(std::filesystem::symlink_status(setup_.options.output, error)))
      return false;
    const auto previous = read_previous_output(setup_.options, context_);
    if (!previous || previous->digest != setup_.digest()) {
      if (is_replaceable) return false;
      throw Failure(ErrorCode::conflict, "it has appeared since this run started", setup_.options.output,
                    "move it away, or use another name, and run the same command again");
    }
    take(*previous);
    return true;
  }

  void work() {
    ShardFolder shards(setup_.options.output, setup_.make_provenance(),
                       {shard_spec(), target_.begin_anew, [this] { return has_other_run_published(); }});
    if (shards.is_published()) return;
    try {
      make_shards(shards);
      if (!shards.is_last()) {
        summary_.state = VideoSummary::State::elsewhere;
        return;
      }
      merge_shards(shards);
      shards.publish(kWhole, target_.replaces);
      shards.remove();
    } catch (const Failure& failure) {
      const Error error = shards.restore_user_paths(failure.error());
      if (!shard_spec() && !shards.has_shards()) shards.remove();
      throw Failure(error);
    }
  }

  void merge_shards(ShardFolder& shards) {
    const auto check_cancelled = [this] { context_.throw_if_cancelled(); };
    constexpr int kMaxDamaged = 100;
    for (int damaged = 0;; ++damaged) {
      remake_mismatched_shards(shards);
      sum_counts(shards);
      summary_.digest = setup_.digest();
      const OutputRecord now{summary_.digest, summary_.counts};
      try {
        if (setup_.muxer) {
          const JoinResult joined =
              join(shards, setup_, kWhole, format_writer_tag(now, setup_.describe_network(runtimes_and_cpus_)),
                   check_cancelled);
          summary_.moved = joined.moved;
          summary_.bytes = joined.bytes;
        } else {
          write_masks(shards, kWhole, setup_.film.time_base, setup_.make_provenance(),
                      format_masks_record(now, runtimes_and_cpus_), check_cancelled);
        }
        return;
      } catch (const Failure& failure) {
        const Error& error = failure.error();
        if (error.code != ErrorCode::bad_data || damaged == kMaxDamaged || !shards.drop(error.subject)) throw;
        spdlog::warn("{}: a shard has changed since it was made, and is made again", setup_.film.path);
        make_shards(shards);
        if (setup_.muxer) setup_.open_muxer(context_);
      }
    }
  }

  void make_shards(ShardFolder& shards) {
    Progress progress(context_.progress, what_, setup_.expected_frames() / std::max<std::uint64_t>(shard_spec().of, 1));
    progress.add(count_finished_frames(shards));
    for (auto pending = shards.next(0); pending;) {
      const auto frame_after_end = make(shards, *pending, progress);
      shards.release_shard(pending->shard);
      pending = frame_after_end ? shards.next(frame_after_end->shard) : std::nullopt;
    }
  }

  // Remakes shards that do not fit the one before. A run that began in the middle may have decoded the frames before
  // its shard differently.
  void remake_mismatched_shards(ShardFolder& shards) {
    std::optional<std::uint64_t> last;
    while (const auto dropped = shards.remove_mismatched_shard()) {
      if (dropped == last) {
        throw Failure(ErrorCode::conflict,
                      "two shards of the video do not fit together, even after they were made again",
                      shards.path(*dropped), "remove the folder of shards, and run it without --part");
      }
      last = dropped;
      spdlog::warn("{}: shard {} does not continue the one before it, and is made again", setup_.film.path, *dropped);
      make_shards(shards);
    }
  }

  const ShardSpec& shard_spec() const { return setup_.options.shard_spec; }

  // Returns the number of frames in shards that this run need not make.
  std::uint64_t count_finished_frames(const ShardFolder& shards) const {
    std::uint64_t out = 0;
    for (std::uint64_t k = shard_spec().index;;) {
      const auto shard = shards.shard(k);
      if (!shard) return out;
      out += shard->note.counts.frames;
      if (!shard->note.next) return out;
      k = shard_spec() ? k + shard_spec().of : *shard->note.next;
    }
  }

  void sum_counts(const ShardFolder& shards) {
    summary_.counts = {};
    runtimes_and_cpus_.clear();
    ShardIterator iterator(shards);
    while (const auto shard = iterator.next()) {
      summary_.counts += shard->note.counts;
      if (!shard->note.runtime_and_cpu.empty()) runtimes_and_cpus_.insert(shard->note.runtime_and_cpu);
      summary_.encoder = shard->packets.encoded().encoder;
    }
    summary_.taken = summary_.counts.frames - std::min(summary_.made, summary_.counts.frames);
  }

  std::unique_ptr<video_file::FrameEncoder> encoder(video_file::FrameEncoder::Listener listener) {
    if (!setup_.muxer)
      return std::make_unique<MaskEncoder>(setup_.composition.made, setup_.encoder_slots, std::move(listener));
    return std::make_unique<video_file::VideoEncoder>(setup_.encoding.options, setup_.film.path, setup_.encoder_slots,
                                                      context_.budget.limit(), std::move(listener), cancelled());
  }
  std::function<bool()> cancelled() const {
    return [this] { return context_.cancel.cancelled(); };
  }

  // Makes this shard, and the following ones that belong to this run. Returns the first frame after them.
  std::optional<Frames::FrameAfterEnd> make(ShardFolder& shards, const PendingShard& pending, Progress& progress) {
    const video_file::VideoFile& film = setup_.film;
    const Reservation reservation =
        context_.budget.reserve(setup_.beside + setup_.decoder + setup_.encoder, "the video's decoder and encoder");
    Frames frames(
        film, setup_.cut, pending, [&shards](std::uint64_t k) { return shards.take(k); },
        [&](std::optional<std::int64_t> from) {
          return std::make_unique<video_file::VideoReader>(film, setup_.decoder_slots,
                                                           static_cast<int>(setup_.options.decoder_threads),
                                                           context_.budget.limit(), from, cancelled());
        });
    if (!frames.first() || (setup_.cut.end && *frames.first() >= *setup_.cut.end)) {
      throw Failure(ErrorCode::usage, "the video has no frames in this range", "--start",
                    film.duration ? fmt::format("the video is {} long", format_time(film.seconds(*film.duration)))
                                  : "use an earlier time");
    }
    const Compositor compositor(setup_.composition, context_);
    VideoShardWriter writer(shards, setup_.warmup(), setup_.runtime_and_cpu(), frames,
                            [this](auto listener) { return encoder(std::move(listener)); });
    chain::run(stages(frames, compositor, writer, progress), context_,
               chain::MemoryCost::fixed(setup_.frame, setup_.frame * setup_.tokens));
    context_.throw_if_cancelled();
    writer.finish(last_duration_);
    summary_.counts += writer.sum();
    summary_.made += writer.sum().frames;
    summary_.encoder = writer.encoder();
    spdlog::debug("CPU of the encoder: {:.3f} s", writer.cpu_seconds());
    return frames.frame_after_end();
  }

  chain::Chain<void> stages(Frames& frames, const Compositor& compositor, VideoShardWriter& writer,
                            Progress& progress) {
    auto decoded = chain::source<FrameItem>("decode", [&frames]() -> std::optional<FrameItem> {
      auto frame = frames.next();
      if (!frame) return std::nullopt;
      FrameItem out;
      out.frame = *std::move(frame);
      return out;
    });
    auto composite = chain::parallel<FrameItem, FrameItem>("composite", [&](FrameItem item, Span& span) {
      if (item.frame.warmup) return item;
      {
        const WaitSpan wait(span);
        item.slot = writer.wait_for_slot();
      }
      auto workspace = workspaces_.take();
      const std::uint16_t* mask = item.mask ? postprocess_mask(setup_, item, workspace->postprocess) : nullptr;
      compositor.compose(item.frame.picture.pixels.get(), mask, item.slot.pixels, workspace->compositor);
      item.mask.reset();
      return item;
    });
    auto encode = chain::sink<FrameItem>(
        "encode",
        [&](FrameItem item, Span&) {
          if (item.frame.warmup) return;
          last_duration_ = item.frame.picture.duration;
          writer.add({std::move(item.frame), item.slot, item.reused, item.by_fast_model});
          progress.add(1);
        },
        "--profile fast, or more --encoder-threads");
    if (!setup_.has_masks()) return std::move(decoded) | std::move(composite) | std::move(encode);

    const auto each = [this](const char* name, void (Masking::*step)(FrameItem&)) {
      return chain::parallel<FrameItem, FrameItem>(name, [this, step](FrameItem item, Span&) {
        (masking_.*step)(item);
        return item;
      });
    };
    const auto in_order = [this](const char* name, void (Masking::*step)(FrameItem&)) {
      return chain::ordered<FrameItem, FrameItem>(name, [this, step](FrameItem item, Span&) {
        (masking_.*step)(item);
        return item;
      });
    };
    constexpr const char* kRemedy = "a smaller model, --reuse 0.03, or --precision bf16 if the CPU supports it";
    auto prepared = std::move(decoded) | each("color conversion", &Masking::prepare);
    if (!setup_.first)
      return std::move(prepared) | in_order("temporal smoothing", &Masking::smooth_over_time) | std::move(composite) |
             std::move(encode);
    auto asked = std::move(prepared) | in_order("reuse check", &Masking::reuse_previous_mask) |
                 chain::submit<FrameItem>(
                     "network", setup_.first->requests(),
                     [this](FrameItem& item, std::function<void(std::exception_ptr)> done) {
                       masking_.start_first_inference(item, std::move(done));
                     },
                     kRemedy) |
                 each("mask", &Masking::refine_region);
    if (setup_.second || setup_.options.refine_region) {
      asked = std::move(asked) |
              chain::submit<FrameItem>(
                  "second inference", setup_.network->requests,
                  [this](FrameItem& item, std::function<void(std::exception_ptr)> done) {
                    masking_.start_second_inference(item, std::move(done));
                  },
                  kRemedy) |
              each("second mask", &Masking::finish);
    }
    return std::move(asked) | in_order("temporal smoothing", &Masking::smooth_over_time) | std::move(composite) |
           std::move(encode);
  }

  struct Workspace {
    Compositor::Workspace compositor;
    masks::PostprocessWorkspace postprocess;
  };

  // Name of the merged output in the folder of shards, until it is published.
  static constexpr const char* kWhole = "film";

  const VideoTarget& target_;
  RunContext& context_;
  const std::string what_;
  Setup setup_;
  Masking masking_{setup_, context_};
  ObjectPool<Workspace> workspaces_{[] { return std::make_unique<Workspace>(); }};
  std::int64_t last_duration_ = 0;
  VideoSummary summary_;
  std::set<std::string> runtimes_and_cpus_;  // runtimes and CPUs that computed the shards
};

}  // namespace

namespace {

// Adds the rate to a plan; time and size too, if the length of the video is known.
void plan_rates(Setup& setup, const FrameEstimate& estimate, Plan& out) {
  const std::int64_t pixels = std::int64_t{setup.film.shape.width} * setup.film.shape.height;
  const double a_picture = estimate.seconds_per_frame(pixels);
  std::string stages;
  Json figures = Json::object();
  for (const StageCost& each : estimate.stages) {
    figures[each.name] = each.cpu_ms;
    stages += fmt::format("{}{} {:.2f}", stages.empty() ? "" : ", ", each.name, each.cpu_ms);
  }
  out.lines.push_back({"CPU ms per frame", stages});
  out.lines.push_back(
      {"rate", fmt::format("about {} frames/s on {} threads", format_rate(1 / a_picture), estimate.cores)});
  out.figures["stages_cpu_ms"] = figures;
  out.figures["frames_per_second"] = 1 / a_picture;
  const auto frames = static_cast<double>(setup.expected_frames());
  if (frames == 0) return;
  out.seconds = frames * a_picture / static_cast<double>(std::max<std::uint64_t>(setup.options.shard_spec.of, 1));
  double bytes = frames * estimate.bytes * static_cast<double>(pixels) / static_cast<double>(estimate.pixels);
  bool all = true;
  if (setup.muxer) {
    for (const video_file::StreamInfo& each : setup.film.streams) {
      const auto& left = setup.muxer->dropped_streams();
      if (each.index == setup.film.stream ||
          std::any_of(left.begin(), left.end(), [&](const auto& one) { return one.stream.index == each.index; }))
        continue;
      all = all && each.bit_rate > 0;
      bytes += static_cast<double>(each.bit_rate) / 8 * frames / std::max(setup.film.rate.value(), 1e-9);
    }
  }
  out.lines.push_back({"size", fmt::format("about {}{}", format_bytes(Bytes{static_cast<std::uint64_t>(bytes)}),
                                           all ? "" : ", without streams of unknown size")});
  out.figures["bytes"] = static_cast<std::uint64_t>(bytes);
}

}  // namespace

Plan plan(const VideoOptions& given, const VideoTarget& target, Networks& networks, std::optional<FrameEstimate>& known,
          RunContext& context) {
  VideoOptions options = given;
  check(options);
  // Checked before a network is loaded: the output's name may belong to some other file.
  if (target.taken && !target.is_from_previous_run && !read_previous_output(options, context))
    throw Failure(*target.taken);
  Run run(options, target, networks, context, "frames");
  Setup& setup = run.setup();
  const video_file::VideoFile& film = setup.film;
  const std::uint64_t frames = setup.expected_frames();
  Plan out;
  out.lines = {{"video", fmt::format("{} x {}, {} bits, {}, {}", film.shape.width, film.shape.height, film.shape.depth,
                                     film.codec, video_file::words_of(setup.composition.film.colors))},
               {"frames", frames == 0 ? std::string("unknown") : fmt::format("about {}", group_digits(frames))},
               {"encoder", setup.encoding.words}};
  if (!setup.filled_in.empty())
    out.lines.push_back(
        {"assumed, as the video does not state it", fmt::format("{}", fmt::join(setup.filled_in, ", "))});
  if (setup.network)
    out.lines.push_back(
        {"network", fmt::format("{}, {}, {} x {}, up to {} inputs at once", setup.network->session.runtime(),
                                setup.network->session.precision(), setup.network->model.width,
                                setup.network->model.height, setup.network->requests)});
  for (const std::string& each : setup.notes) out.lines.push_back({"not kept", each});
  std::size_t dropped_streams = 0;
  if (setup.muxer) {
    for (const auto& each : setup.muxer->dropped_streams())
      out.lines.push_back({"not copied", video_file::VideoMuxer::words_of(each)});
    dropped_streams = setup.muxer->dropped_streams().size();
  }
  out.figures = {{"width", film.shape.width}, {"height", film.shape.height},     {"frames", frames},
                 {"rate", film.rate.value()}, {"encoder", setup.encoding.words}, {"left_out", dropped_streams}};
  if (run.find_previous_output()) {
    out.lines.push_back({"output", "already complete, nothing to do"});
    out.seconds = 0;
  } else {
    if (!known) known = estimate(setup, context);
    plan_rates(setup, *known, out);
  }
  out.memory = {{"the program itself", 20_MiB}};
  for (const auto& [name, network] :
       {std::pair("the network", setup.network), {"the fast network", setup.fast_network}})
    if (network != nullptr) out.memory.push_back({name, network->memory});
  out.memory.push_back({"the decoder", setup.decoder});
  out.memory.push_back({"the encoder", setup.encoder});
  out.memory.push_back({"frames in flight", setup.beside + setup.frame * setup.tokens});
  out.threads = context.executor.threads();
  out.in_flight = setup.tokens;
  out.allowed = context.budget.limit();
  return out;
}

VideoSummary run(const VideoOptions& given, const VideoTarget& target, Networks& networks, RunContext& context,
                 const std::string& what) {
  VideoOptions options = given;
  check(options);
  // Checked before a network is loaded: the output's name may belong to some other file.
  if (target.taken && !target.is_from_previous_run && !read_previous_output(options, context))
    throw Failure(*target.taken);
  return Run(options, target, networks, context, what).run();
}

}  // namespace millrace::video
