#include "include/millrace/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/text.h"
#include "src/device/accelerator.h"
#include "src/jobs/callers_device.h"
#include "src/jobs/render/encode/format.h"
#include "src/kernels/chart/chart_device.h"

namespace millrace {

using namespace render;

namespace {

// Uses the option table of the command line; messages name the member that was set.
RenderOptions parse_options(const ChartOptions& given) {
  RenderOptions out;
  Settings settings;
  describe(settings, out);
  const auto set = [&](const char* member, const char* option, const std::string& value) {
    try {
      settings.apply_flag(option, {value});
    } catch (const Failure& failure) {
      throw Failure(failure.error().code, failure.error().what, member, failure.error().remedy);
    }
  };
  set("style", "style", given.style);
  set("rows", "window", std::to_string(given.rows));
  set("line_width", "line-width", fmt::format("{}px", given.line_width));
  set("scale", "scale", given.scale);
  set("ink", "ink", given.ink);
  set("paper", "paper", given.paper);
  set("rising", "rising", given.rising);
  set("falling", "falling", given.falling);
  set("channels", "channels", given.channels);
  set("dtype", "dtype", given.dtype);
  set("average", "ma", std::to_string(given.average));
  if (out.scale == PriceScaling::global) {
    throw Failure(ErrorCode::usage, "'global' needs the whole series, but a drawer gets only windows", "scale",
                  "use window or log");
  }
  const auto side = [](const char* name, int value) {
    if (value >= 0 && value <= rle::kMaxSide) return value;
    throw Failure(ErrorCode::usage, fmt::format("{} is out of range; expected 0 to {}", value, rle::kMaxSide), name);
  };
  // A side of 0 is left to the style, which --size cannot express.
  out.width = side("width", given.width);
  out.height = side("height", given.height);
  out.volume = given.volume;
  out.fill_defaults();
  return out;
}

std::string text_of(ElementType type, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} [{}]", name_of(type), fmt::join(shape, ", "));
}

void check_array(const ArrayView& array, const char* name, ElementType type, const std::vector<std::int64_t>& shape) {
  const auto refuse = [&](const std::string& why, const char* remedy = "") {
    throw Failure(ErrorCode::usage, why, name, remedy);
  };
  if (!array.shape.empty() && array.shape[0] < 0) {
    refuse(fmt::format("the number of charts is negative: {}", array.shape[0]));
  }
  // The number of bytes must not overflow.
  std::uint64_t each = type.bytes();
  for (std::size_t i = 1; i < shape.size(); ++i) each *= static_cast<std::uint64_t>(shape[i]);
  if (!array.shape.empty() && static_cast<std::uint64_t>(array.shape[0]) > (std::uint64_t{1} << 62) / each) {
    refuse(fmt::format("{} charts do not fit into any memory", array.shape[0]));
  }
  if (array.type != type || array.shape != shape) {
    refuse(fmt::format("it is {}; expected {}", text_of(array.type, array.shape), text_of(type, shape)));
  }
  if (array.memory != MemoryKind::host && array.memory != MemoryKind::pinned && array.memory != MemoryKind::device) {
    refuse(fmt::format("memory of the kind {} is not supported; expected host or CUDA memory",
                       static_cast<int>(array.memory)),
           "copy it to the host");
  }
  if (!array.contiguous()) refuse("it is not contiguous", "pass a contiguous copy");
  if (array.data == nullptr && array.elements() > 0) refuse("its data pointer is null");
  // A device's kernels read whole elements.
  if (array.memory == MemoryKind::device && reinterpret_cast<std::uintptr_t>(array.data) % type.bytes() != 0) {
    refuse(fmt::format("it is not aligned to {} bytes", type.bytes()), "pass a contiguous copy");
  }
}

// A device that was opened for a drawer. (It is no member of State: members of an exported class are visible outside of
// the library.)
struct OpenedDevice {
  OpenedDevice(const chart::ChartSpec& spec, const Format& format, const Executor& executor, const Device& device,
               const AcceleratorOptions& options)
      : accelerator(device, options, budget, trace), drawer(spec, format, executor, accelerator, budget) {}
  Budget budget{Bytes{std::numeric_limits<std::int64_t>::max()}};  // a caller that draws on the fly has no --memory
  Trace trace;
  Accelerator accelerator;
  chart::DeviceDrawer drawer MILLRACE_GUARDED_BY(drawing);
  Mutex drawing;
};

}  // namespace

struct ChartDrawer::State {
  explicit State(const ChartOptions& given)
      : options(parse_options(given)),
        spec(options.spec()),
        format(format_of(options)),
        executor(given.threads),
        painters(spec, format),
        device(given.device, given.verify_device, given.device_memory) {}

  // Returns the number of the device whose memory holds an array; nullopt for host memory.
  static std::optional<std::int32_t> device_number_of(const ArrayView& array) {
    if (array.memory != MemoryKind::device) return std::nullopt;
    return array.device;
  }

  // Returns the device that works on these arrays; null: only the CPU does.
  OpenedDevice* device_for(const ArrayView& series, const ArrayView& images) {
    const std::optional<std::int32_t> in = device_number_of(series), out = device_number_of(images);
    if (!in && !out) return device.named() ? &open(*device.named()) : nullptr;
    if (in && out && in != out) {
      throw Failure(ErrorCode::usage, fmt::format("it is on CUDA device {}, but series are on {}", *out, *in), "images",
                    "copy one of them to the other device");
    }
    return &open(device.find_array_device(out ? *out : *in, out ? "images" : "series", "charts are drawn"));
  }

  OpenedDevice& open(const Device& of) {
    const MutexLock lock(mutex);
    std::unique_ptr<OpenedDevice>& out = opened[name_of(of)];
    if (!out) {
      out = std::make_unique<OpenedDevice>(spec, format, executor, of, device.options());
      if (!of.reason.empty()) out->accelerator.exclude_device(of.reason);
    }
    return *out;
  }

  void draw(const chart::SeriesArray& from, const ArrayView& series, const ArrayView& images,
            const CancelToken* cancel) {
    const Executor own(executor, cancel);
    OpenedDevice* on = device_for(series, images);
    if (on == nullptr) return painters.paint(from, own, static_cast<std::uint8_t*>(images.data));
    const MutexLock lock(on->drawing);
    const std::size_t step =
        series.type.bytes() * static_cast<std::size_t>(from.count > 0 ? series.elements() / series.shape[0] : 0);
    // Charts between two checks for cancellation: some batches, which take tenths of a second.
    constexpr std::size_t kChartsAtOnce = 8192;
    for (std::size_t at = 0; at < from.count; at += kChartsAtOnce) {
      own.throw_if_cancelled("some were drawn");
      chart::SeriesArray part = from;
      part.data = static_cast<const char*>(from.data) + at * step;
      part.count = std::min(kChartsAtOnce, from.count - at);
      on->drawer.draw(
          part, series.memory == MemoryKind::device,
          {static_cast<char*>(images.data) + at * format.image_bytes(), images.memory == MemoryKind::device});
    }
  }

  const RenderOptions options;
  const chart::ChartSpec spec;
  const Format format;
  const Executor executor;
  const chart::SeriesPainters painters;
  const CallersDevice device;
  mutable Mutex mutex;
  std::map<std::string, std::unique_ptr<OpenedDevice>> opened MILLRACE_GUARDED_BY(mutex);
};

ChartDrawer::ChartDrawer(const ChartOptions& options) : state_(std::make_unique<State>(options)) {}
ChartDrawer::~ChartDrawer() = default;
ChartDrawer::ChartDrawer(ChartDrawer&&) noexcept = default;
ChartDrawer& ChartDrawer::operator=(ChartDrawer&&) noexcept = default;

int ChartDrawer::rows() const { return static_cast<int>(state_->options.window); }
int ChartDrawer::columns() const { return static_cast<int>(price_columns_of(state_->spec).size()); }
int ChartDrawer::history() const { return static_cast<int>(state_->spec.history()); }
int ChartDrawer::width() const { return state_->options.width; }
int ChartDrawer::height() const { return state_->options.height; }
int ChartDrawer::channels() const { return state_->format.channels; }
std::size_t ChartDrawer::image_bytes() const { return state_->format.image_bytes(); }

std::vector<std::int64_t> ChartDrawer::image_shape() const {
  const bool bits = state_->options.dtype == PixelType::bit;
  std::vector<std::int64_t> out = {height(), bits ? (width() + 7) / 8 : width()};
  if (channels() > 1) out.push_back(channels());
  return out;
}
ElementType ChartDrawer::image_type() const { return state_->options.dtype == PixelType::f32 ? kFloat32 : kUint8; }

void ChartDrawer::draw(const ArrayView& series, const ArrayView& images, const CancelToken* cancel) const {
  const std::size_t dimensions = columns() == 1 && series.shape.size() == 2 ? 2 : 3;
  const std::int64_t given = series.shape.size() == dimensions ? series.shape[1] : rows();
  const std::int64_t most = std::int64_t{rows()} + history();
  std::vector<std::int64_t> shape = {series.shape.empty() ? 0 : series.shape[0],
                                     std::clamp(given, std::int64_t{rows()}, most)};
  if (dimensions == 3) shape.push_back(columns());
  check_array(series, "series", series.type == kFloat32 ? kFloat32 : kFloat64, shape);
  shape = image_shape();
  shape.insert(shape.begin(), series.shape[0]);
  check_array(images, "images", image_type(), shape);
  state_->draw({series.data, series.type == kFloat32, static_cast<std::size_t>(series.shape[0]),
                static_cast<std::size_t>(given - rows())},
               series, images, cancel);
}

DeviceUse ChartDrawer::device_use() const {
  DeviceUse out;
  // An opened device is never removed. Its own lock may be held by a draw for long, so it is taken after `mutex` is
  // free.
  std::vector<std::pair<std::string, OpenedDevice*>> opened;
  {
    const MutexLock lock(state_->mutex);
    for (const auto& [name, on] : state_->opened) opened.emplace_back(name, on.get());
  }
  for (const auto& [name, on] : opened) {
    const MutexLock drawing(on->drawing);
    const chart::ChartCounts& counts = on->drawer.counts();
    out.device += fmt::format("{}{}", out.device.empty() ? "" : ", ", on->accelerator.title());
    out.drawn += counts.by_device;
    out.compared += counts.compared;
    out.by_cpu += counts.by_cpu;
    const std::string why = explain_cpu_use(on->accelerator);
    if (!why.empty()) out.why += fmt::format("{}{}: {}", out.why.empty() ? "" : "; ", name, why);
  }
  return out;
}

}  // namespace millrace
