// Implements include/millrace/segment.h: windows and results of images in memory, as in the program.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string_view>

#include "include/millrace/segment.h"
#include "src/base/text.h"
#include "src/device/cpu/machine.h"
#include "src/jobs/job_runner.h"
#include "src/jobs/segment/array_results.h"
#include "src/jobs/segment/collector.h"
#include "src/jobs/segment/networks.h"
#include "src/jobs/segment/reserve_after.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/chain.h"

namespace millrace {
namespace segment {
namespace {

// Options of the job that do not concern files, images or devices.
constexpr std::array<std::string_view, 17> kSupportedOptions = {
    "card", "input",  "activation", "threshold",  "requests", "precision",  "tta",     "tta-mean", "preprocess",
    "size", "window", "overlap",    "importance", "pad",      "skip-empty", "threads", "memory"};

bool is_supported_option(const std::string& name) {
  return std::find(kSupportedOptions.begin(), kSupportedOptions.end(), name) != kSupportedOptions.end();
}

struct ParsedOptions {
  Options options;
  RunningOptions running;
  Settings settings;

  ParsedOptions() {
    describe(settings, options);
    describe_running(settings, running);
  }
  // Applies the caller's models and options.
  void apply(const std::vector<std::string>& models, const Segmenter::Options& given) {
    for (const auto& [name, values] : given) {
      if (settings.has_option(name) && !is_supported_option(name))
        throw Failure(
            ErrorCode::usage, "this option is not supported by a Segmenter, which works on arrays in memory", name,
            name == "model" ? "pass the models as the first argument" : "use the job 'segment', which works on files");
      settings.apply_flag(name, values);
    }
    if (models.empty())
      throw Failure(ErrorCode::usage, "no model was named", "model", "name the ONNX file of a network");
    options.models = models;
    options.write = {};
    if (options.min_dice)
      throw Failure(ErrorCode::usage,
                    "auto is not supported: it compares windows of all pictures of a run, and a Segmenter does not "
                    "know its images yet",
                    "precision",
                    "use f32 or bf16; 'millrace segment --precision auto --plan' shows how well masks agree");
  }
};

// Resources of one call.
struct CallResources {
  CallResources(long long threads, Budget& budget, const CancelToken* wanted)
      : cancel(wanted != nullptr ? *wanted : never),
        executor(static_cast<int>(threads), &cancel),
        context{executor, cancel, trace, budget} {}
  const CancelToken never;
  const CancelToken& cancel;
  const Executor executor;
  Trace trace;
  RunContext context;
};

// Image in progress.
struct ImageInProgress {
  std::string name;
  Cutter cutter;
  Reservation reservation;
  std::optional<Collector> collector;
};
// Window of an image. After the last one follows an item without a window.
struct Window {
  std::shared_ptr<ImageInProgress> of;
  std::size_t row = 0, column = 0;
  std::shared_ptr<WindowBuffers> buffers;
};

// Single call of segment().
class Call {
 public:
  Call(const Options& options, Networks& networks, RunContext& context, std::span<const ArrayView> images,
       const SegmentWishes& wishes)
      : options_(options),
        networks_(networks),
        context_(context),
        images_(images),
        wishes_(wishes),
        out_(images.size()) {}

  std::vector<SegmentedImage> run() {
    std::size_t next = 0;
    auto stages = chain::source<std::size_t>("images",
                                             [&]() -> std::optional<std::size_t> {
                                               return next < images_.size() ? std::optional(next++) : std::nullopt;
                                             }) |
                  chain::expand<std::size_t, Window>("cut", [&](std::size_t k) { return windows_of(k); }) |
                  chain::submit<Window>("network", networks_.requests(),
                                        [&](Window& window, std::function<void(std::exception_ptr)> done) {
                                          if (!window.buffers) return done(nullptr);
                                          networks_.submit_window(*window.buffers, std::move(done));
                                        }) |
                  chain::sink<Window>("blend", [&](const Window& window, Span&) { collect(window); });
    networks_.run_cancellable(context_.cancel, [&] {
      chain::run(stages, context_, chain::MemoryCost::fixed(networks_.window_bytes(), networks_.in_flight()));
    });
    context_.throw_if_cancelled();
    return std::move(out_);
  }

 private:
  std::string name_of(std::size_t k) const { return images_.size() == 1 ? "image" : fmt::format("image {}", k); }

  chain::ItemGenerator<Window> windows_of(std::size_t k) {
    return [this, k, ended = false,
            of = std::shared_ptr<ImageInProgress>()](bool& later) mutable -> std::optional<Window> {
      if (ended) return std::nullopt;
      if (!of) {
        const std::string name = name_of(k);
        const Setup& setup = networks_.setup();
        of.reset(
            new ImageInProgress{name, Cutter(options_, setup, make_image_rows(setup, images_[k], name), name), {}, {}});
        if (!wishes_.regions.empty())
          of->cutter.set_region(make_region_rows(wishes_.regions[k]), "the region of " + name);
      }
      if (!of->collector) {
        const Bytes wanted = of->cutter.memory_cost() + Collector::memory_cost(networks_.setup(), of->cutter, false);
        auto reservation = reserve_after(latest_, wanted, context_.budget, of->name);
        if (!reservation) {
          later = true;
          return std::nullopt;
        }
        of->reservation = *std::move(reservation);
        begin(*of, out_[k]);
        latest_ = of;
      }
      Window out;
      out.of = of;
      auto buffers = buffers_.take();
      buffers->input.resize(networks_.setup().input_elements());
      if (of->cutter.next(buffers->input.data(), out.row, out.column)) {
        out.buffers = std::move(buffers);
        return out;
      }
      ended = true;
      of.reset();
      return out;
    };
  }

  void begin(ImageInProgress& of, SegmentedImage& out) {
    // The position of the square is known only after the whole photograph was read.
    of.cutter.begin(0, "");
    const PictureInfo& info = of.cutter.rows().info();
    of.collector.emplace(
        options_, networks_.setup(),
        CollectorParameters{of.name,
                            of.cutter.y(),
                            of.cutter.x(),
                            of.cutter.source(),
                            info.width,
                            info.height,
                            of.cutter.rows().crop(),
                            {}},
        std::make_unique<ArrayResults>(networks_.setup(), info.width, info.height, wishes_.probabilities, out));
  }

  void collect(const Window& window) {
    if (window.buffers) return window.of->collector->add(window.row, window.column, window.buffers->made);
    PictureResult result;
    if (const FieldOfView* field = window.of->cutter.rows().field()) result.field = *field;
    const auto finished = window.of->collector->finish(std::move(result));
    if (finished.ok()) return;
    Error error = finished.error();
    error.subject = window.of->name;
    throw Failure(std::move(error));
  }

  const Options& options_;
  Networks& networks_;
  RunContext& context_;
  const std::span<const ArrayView> images_;
  const SegmentWishes& wishes_;
  std::vector<SegmentedImage> out_;
  ObjectPool<WindowBuffers> buffers_{[] { return std::make_unique<WindowBuffers>(); }};
  std::weak_ptr<ImageInProgress> latest_;
};

}  // namespace
}  // namespace segment

struct Segmenter::State {
  State(const std::vector<std::string>& models, const Options& given, const CancelToken* cancel) {
    throw_if_forked_behind_threads();
    described.apply(models, given);
    budget.emplace(described.running.memory.count > 0 ? described.running.memory
                                                      : default_memory_limit(describe_machine()));
    segment::CallResources working(described.running.threads, *budget, cancel);
    networks.emplace(described.options, working.context);
    working.context.throw_if_cancelled();
    networks->compile(described.options.network.precision, working.context);
    working.context.throw_if_cancelled();
  }
  const model::Session& session() const { return networks->ensemble().session(0); }

  segment::ParsedOptions described;
  std::optional<Budget> budget;
  std::optional<segment::Networks> networks;
  std::timed_mutex mutex;
};

std::vector<JobOption> Segmenter::describe_options() {
  const segment::ParsedOptions described;
  std::vector<JobOption> out;
  for (const Settings::Entry& entry : described.settings.entries())
    if (segment::is_supported_option(entry.name)) out.push_back(millrace::described(entry));
  return out;
}

Segmenter::Segmenter(const std::vector<std::string>& models, const Options& options, const CancelToken* cancel)
    : state_(std::make_unique<State>(models, options, cancel)) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

const std::string& Segmenter::runtime() const { return state_->session().runtime(); }
const std::string& Segmenter::precision() const { return state_->session().precision(); }
std::int64_t Segmenter::window_height() const { return state_->networks->setup().height; }
std::int64_t Segmenter::window_width() const { return state_->networks->setup().width; }

std::vector<SegmentedImage> Segmenter::segment(std::span<const ArrayView> images, const SegmentWishes& wishes) const {
  throw_if_forked_behind_threads();
  check_images(images, "image");
  check_images(wishes.regions, "region");
  if (!wishes.regions.empty()) {
    if (wishes.regions.size() != images.size())
      throw Failure(ErrorCode::usage, fmt::format("{} given for {} images", wishes.regions.size(), images.size()),
                    "regions", "give one for each image");
    segment::refuse_region_of_square(state_->networks->setup());
  }
  segment::CallResources working(state_->described.running.threads, *state_->budget, wishes.cancel);
  // Waits while another thread's call uses the networks.
  std::unique_lock lock(state_->mutex, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(50))) working.context.throw_if_cancelled();
  return segment::Call(state_->described.options, *state_->networks, working.context, images, wishes).run();
}

}  // namespace millrace
