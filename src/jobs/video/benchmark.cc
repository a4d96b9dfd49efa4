#include "src/jobs/video/benchmark.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <filesystem>
#include <functional>

#include "src/base/mutex.h"
#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/video/masking.h"
#include "src/jobs/video/run.h"

namespace millrace::video {
namespace {

double cpu_of_this_process() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double cpu_of_ended_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Temporary folder that is removed with its contents.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "millrace-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Failure(system_error("the temporary folder cannot be created", name, errno));
    path_ = name;
  }
  ~Scratch() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Starts all operations and waits for all of them.
template <typename Begin>
void run_concurrently(std::size_t count, const Begin& begin) {
  Mutex mutex;
  Condition changed;
  std::size_t left = count;
  std::exception_ptr failed;
  for (std::size_t k = 0; k < count; ++k) {
    begin(k, [&](const std::exception_ptr& error) {
      const MutexLock lock(mutex);
      if (error) failed = error;
      --left;
      changed.notify_one();
    });
  }
  MutexLock lock(mutex);
  while (left > 0) changed.wait(lock);
  if (failed) std::rethrow_exception(failed);
}

// Stages whose cost depends on the input size of the network, not on the frame size.
constexpr const char *kReuseCheck = "reuse check", *kNetwork = "network", *kMask = "mask";

class Bench {
 public:
  // Measures `count` frames, or as many as fit into memory: all of them are held at once. Starts at `from`, else at
  // --start or the beginning.
  Bench(Setup& setup, std::uint64_t count, std::optional<std::int64_t> from, RunContext& context)
      : context_(context), setup_(setup), how_(setup.cut) {
    how_.warmup = 0;
    if (from) how_.start = from;
    const std::uint64_t each = setup_.frame.count;
    count_ = std::clamp<std::uint64_t>(context.budget.largest_grant().count / 3 / each, 2, count);
  }

  BenchmarkResult run() {
    BenchmarkResult out;
    const Reservation reservation = context_.budget.reserve(setup_.frame * count_, "the frames that are measured");
    const auto measure = [&](const char* name, const std::function<double()>& stage) {
      context_.throw_if_cancelled();
      out.stages.push_back({name, 1000 * stage() / static_cast<double>(items_.size())});
    };
    const double decoding = decode();
    if (items_.empty())
      throw Failure(ErrorCode::bad_data, "there are no frames to measure", setup_.film.path, "check --start and --end");
    measure("decode", [&] { return decoding; });
    Masking masking(setup_, context_);
    if (setup_.has_masks()) {
      measure("color conversion", [&] {
        return measure_cpu([&] {
          for (FrameItem& each : items_) masking.prepare(each);
        });
      });
      measure(kReuseCheck, [&] {
        return measure_cpu([&] {
          for (FrameItem& each : items_) masking.reuse_previous_mask(each);
        });
      });
      measure(kNetwork, [&] {
        return measure_cpu([&] {
          run_concurrently(items_.size(), [&](std::size_t k, auto done) {
            masking.start_first_inference(items_[k], std::move(done));
          });
        });
      });
      measure(kMask, [&] {
        return measure_cpu([&] {
          for (FrameItem& each : items_) masking.refine_region(each);
          run_concurrently(items_.size(), [&](std::size_t k, auto done) {
            masking.start_second_inference(items_[k], std::move(done));
          });
          for (FrameItem& each : items_) masking.finish(each);
          for (FrameItem& each : items_) masking.smooth_over_time(each);
        });
      });
    }
    std::vector<Buffer<std::uint8_t>> made(items_.size());
    measure("composite", [&] {
      const Compositor compositor(setup_.composition, context_);
      Compositor::Workspace workspace;
      masks::PostprocessWorkspace postprocess;
      for (auto& each : made) each.resize(video_file::layout_of(setup_.composition.made).bytes);
      return measure_cpu([&] {
        for (std::size_t k = 0; k < items_.size(); ++k)
          compositor.compose(items_[k].frame.picture.pixels.get(),
                             items_[k].mask ? postprocess_mask(setup_, items_[k], postprocess) : nullptr,
                             made[k].data(), workspace);
      });
    });
    measure("encode", [&] { return encode(made); });
    out.frames = items_.size();
    last_ = items_.back().frame.pts;
    items_.clear();
    return out;
  }

  // Returns the size of all encoded frames, in bytes.
  std::uint64_t bytes() const { return bytes_; }
  // Returns the length of the part that was measured, in seconds from its start.
  double seconds() const { return setup_.film.seconds(last_ + 1 - setup_.cut.start.value_or(setup_.film.begin())); }

 private:
  template <typename Work>
  static double measure_cpu(const Work& work) {
    const double before = cpu_of_this_process();
    work();
    return cpu_of_this_process() - before;
  }

  double decode() {
    double helper = 0;
    const double mine = measure_cpu([&] {
      video_file::VideoReader* opened = nullptr;
      Frames frames(
          setup_.film, how_, {}, [](std::uint64_t) { return true; },
          [&](std::optional<std::int64_t> from) {
            auto made = std::make_unique<video_file::VideoReader>(
                setup_.film, static_cast<std::uint32_t>(count_ + 2), static_cast<int>(setup_.options.decoder_threads),
                context_.budget.limit(), from, [this] { return context_.cancel.cancelled(); });
            opened = made.get();
            return made;
          });
      const double before = opened->cpu_seconds();
      while (items_.size() < count_) {
        auto frame = frames.next();
        if (!frame) break;
        helper = opened->cpu_seconds() - before;
        FrameItem item;
        item.frame = *std::move(frame);
        items_.push_back(std::move(item));
      }
    });
    return mine + helper;
  }

  double encode(const std::vector<Buffer<std::uint8_t>>& made) {
    video_file::FrameEncoder::Listener nobody{
        [](const video_file::StreamHeaders&) {},
        [this](const video_file::EncodedPacket& one) { bytes_ += one.data.size(); }, [] {}};
    const std::size_t bytes = video_file::layout_of(setup_.composition.made).bytes;
    double helper = 0;
    const double mine = measure_cpu([&] {
      std::unique_ptr<video_file::FrameEncoder> encoder;
      if (setup_.muxer) {
        encoder = std::make_unique<video_file::VideoEncoder>(setup_.encoding.options, setup_.film.path,
                                                             setup_.encoder_slots, context_.budget.limit(), nobody,
                                                             [this] { return context_.cancel.cancelled(); });
      } else {
        encoder = std::make_unique<MaskEncoder>(setup_.composition.made, setup_.encoder_slots, nobody);
      }
      const double before = encoder->cpu_seconds();
      encoder->begin();
      for (std::size_t k = 0; k < made.size(); ++k) {
        const auto slot = encoder->wait_for_slot();
        std::copy_n(made[k].data(), bytes, slot.pixels);
        encoder->send(slot, items_[k].frame.pts, 1);
      }
      encoder->drain();
      encoder->finish();
      helper = encoder->cpu_seconds() - before;
    });
    return mine + helper;
  }

  RunContext& context_;
  Setup& setup_;
  Frames::Parameters how_;
  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> bytes_{0};
  std::int64_t last_ = 0;
  std::vector<FrameItem> items_;
};

struct WholeRunCost {
  double cpu = 0, elapsed = 0;
  std::uint64_t frames = 0;
};
WholeRunCost measure_whole_run(VideoOptions options, double seconds, RunContext& context) {
  Networks networks;
  const Scratch scratch;
  const std::string name = options.shown() == ShownContent::files ? "masks" : std::string(file_name(options.output));
  options.output = join_path(scratch.path(), name);
  options.end = options.start.value_or(0) + seconds;
  const double cpu = cpu_of_this_process() + cpu_of_ended_children();
  const Stopwatch watch;
  WholeRunCost out;
  out.frames = video::run(options, {}, networks, context).counts.frames;
  out.elapsed = watch.seconds();
  out.cpu = cpu_of_this_process() + cpu_of_ended_children() - cpu;
  return out;
}

std::string verdict_of(const BenchmarkResult& of) {
  const auto most = std::max_element(of.stages.begin(), of.stages.end(),
                                     [](const StageCost& a, const StageCost& b) { return a.cpu_ms < b.cpu_ms; });
  const char* remedy = most->name == kNetwork
                           ? "a smaller model, --reuse 0.03, or --precision bf16 if the CPU supports it"
                       : most->name == "encode" ? "--profile fast, or another --codec"
                       : most->name == "decode" ? "a video in a codec that decodes faster"
                       : most->name == kMask    ? "fewer --clean steps"
                                                : nullptr;
  return fmt::format("{} takes most time, {:.0f} % of all work{}", most->name, 100 * most->cpu_ms / of.sum_ms(),
                     remedy == nullptr ? "" : fmt::format("; to try: {}", remedy));
}

}  // namespace

double BenchmarkResult::sum_ms() const {
  double out = 0;
  for (const StageCost& each : stages) out += each.cpu_ms;
  return out;
}

BenchmarkResult benchmark(const VideoOptions& options, bool tune, RunContext& context) {
  BenchmarkResult out;
  double seconds = 0;
  {
    constexpr std::uint64_t kMaxFrames = 300;
    Networks networks;
    Setup setup(options, networks, context);
    Bench bench(setup, kMaxFrames, std::nullopt, context);
    out = bench.run();
    seconds = bench.seconds();
  }
  out.cores = context.executor.threads();
  const WholeRunCost all = measure_whole_run(options, seconds, context);
  const auto frames = static_cast<double>(std::max<std::uint64_t>(all.frames, 1));
  out.cpu_ms = 1000 * all.cpu / frames;
  out.elapsed_ms = 1000 * all.elapsed / frames;
  out.verdict = verdict_of(out);
  if (!tune) return out;
  for (const long long decoders : {1LL, 2LL}) {
    for (const long long requests : {1LL, static_cast<long long>(out.cores), 2LL * out.cores}) {
      context.throw_if_cancelled();
      const auto same = [&](const BenchmarkResult::TriedSettings& each) {
        return each.requests == requests && each.decoder_threads == decoders;
      };
      if (std::any_of(out.tried.begin(), out.tried.end(), same)) continue;
      VideoOptions other = options;
      other.network.requests = requests;
      other.decoder_threads = decoders;
      const WholeRunCost took = measure_whole_run(other, seconds, context);
      out.tried.push_back({requests, decoders, static_cast<double>(took.frames) / took.elapsed});
    }
  }
  std::stable_sort(out.tried.begin(), out.tried.end(), [](const auto& a, const auto& b) { return a.rate > b.rate; });
  return out;
}

FrameEstimate estimate(Setup& setup, RunContext& context) {
  constexpr std::uint64_t kFew = 3, kMany = 40;
  constexpr double kTimeoutS = 2;  // seconds
  std::optional<std::int64_t> from;
  if (setup.film.duration) {
    const std::int64_t begin = setup.cut.start.value_or(setup.film.begin());
    const std::int64_t end =
        std::min(setup.cut.end.value_or(video_file::kMaxTime), setup.film.begin() + *setup.film.duration);
    if (begin < end) from = begin + (end - begin) / 2;
  }
  FrameEstimate out;
  const auto measure = [&](std::uint64_t count) {
    Bench bench(setup, count, from, context);
    const BenchmarkResult found = bench.run();
    out.stages = found.stages;
    out.bytes = static_cast<double>(bench.bytes()) / static_cast<double>(found.frames);
  };
  const Stopwatch watch;
  try {
    measure(kFew);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::bad_data || !from) throw;
    from.reset();  // the video ends before its middle
    measure(kFew);
  }
  if (watch.seconds() < kTimeoutS) measure(kMany);
  out.cores = context.executor.threads();
  out.pixels = std::int64_t{setup.film.shape.width} * setup.film.shape.height;
  return out;
}

double FrameEstimate::seconds_per_frame(std::int64_t pixels_of_it) const {
  // Share of the cores' time that is spent on work, as measured by the benchmarks.
  constexpr double kBusy = 0.9;
  double ms = 0;
  for (const StageCost& each : stages) {
    const bool fixed = each.name == kReuseCheck || each.name == kNetwork || each.name == kMask;
    ms += fixed ? each.cpu_ms : each.cpu_ms * static_cast<double>(pixels_of_it) / static_cast<double>(pixels);
  }
  return ms / 1000 / cores / kBusy;
}

std::string to_yaml(const BenchmarkResult& benchmarked) {
  const BenchmarkResult::TriedSettings& best = benchmarked.tried.front();
  std::string out =
      "# Frames per second of the settings that were tried; none changes a byte of the output of an undamaged video.\n";
  for (const auto& each : benchmarked.tried)
    out += fmt::format("#   requests {}, decoder-threads {}: {:.1f}\n", each.requests, each.decoder_threads, each.rate);
  return out + fmt::format("requests: {}\ndecoder-threads: {}\n", best.requests, best.decoder_threads);
}

}  // namespace millrace::video
