#include "include/millrace/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/jobs/render/encode/format.h"
#include "src/kernels/chart/series_painter.h"
#include "src/memory/pool.h"

namespace millrace {

using namespace render;

namespace {

// By the table that the command line goes by; messages name the member that was set.
Options options_of(const ChartOptions& given) {
  Options out;
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
  if (out.scale == Scaling::global) {
    throw Failure(ErrorCode::usage, "'global' needs the whole series, and a drawer is given windows", "scale",
                  "use window or log");
  }
  const auto side = [](const char* name, int value) {
    if (value >= 0 && value <= rle::kLongestSide) return value;
    throw Failure(ErrorCode::usage, fmt::format("{} is outside 0 to {}", value, rle::kLongestSide), name);
  };
  // One of them may be left to the style, which --size does not say.
  out.width = side("width", given.width);
  out.height = side("height", given.height);
  out.volume = given.volume;
  out.fill_defaults();
  return out;
}

std::string text_of(ElementType type, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} [{}]", name_of(type), fmt::join(shape, ", "));
}

void require(const ArrayView& array, const char* name, ElementType type, const std::vector<std::int64_t>& shape) {
  if (!array.shape.empty() && array.shape[0] < 0) {
    throw Failure(ErrorCode::usage, fmt::format("{} charts are fewer than none", array.shape[0]), name);
  }
  if (array.type != type || array.shape != shape) {
    throw Failure(ErrorCode::usage,
                  fmt::format("it is {}, and {} is needed", text_of(array.type, array.shape), text_of(type, shape)),
                  name);
  }
  if (array.memory != MemoryKind::host && array.memory != MemoryKind::pinned) {
    throw Failure(ErrorCode::usage, "it lies on a device, and charts are drawn by the CPU", name,
                  "copy it to the host");
  }
  if (!array.contiguous()) throw Failure(ErrorCode::usage, "there are gaps between its rows", name, "copy it");
  if (array.data == nullptr && array.elements() > 0) throw Failure(ErrorCode::usage, "it lies nowhere", name);
}

}  // namespace

struct ChartDrawer::State {
  explicit State(const ChartOptions& given)
      : options(options_of(given)),
        spec(options.spec()),
        format(format_of(options)),
        executor(given.threads),
        painters([this] { return std::make_unique<chart::SeriesPainter>(spec, format); }) {}

  template <typename Number>
  void draw(const Number* series, std::size_t count, std::size_t before, void* images) {
    const std::size_t each = (before + spec.rows) * roles_of(spec).size(), image = format.image_bytes();
    auto* out = static_cast<std::uint8_t*>(images);
    // A batch that no cache holds is written past them.
    constexpr std::size_t kCached = 16 << 20;
    const bool large = count * image > kCached;
    executor.parallel_for(count, 4, [&](std::size_t from, std::size_t to) {
      const std::shared_ptr<chart::SeriesPainter> painter = painters.take();
      for (std::size_t i = from; i < to; ++i) painter->paint(series + i * each, before, large, out + i * image);
      if (large) rle::paint_end();
    });
  }

  const Options options;
  const chart::Spec spec;
  const Format format;
  const Executor executor;
  Pool<chart::SeriesPainter> painters;
};

ChartDrawer::ChartDrawer(const ChartOptions& options) : state_(std::make_unique<State>(options)) {}
ChartDrawer::~ChartDrawer() = default;
ChartDrawer::ChartDrawer(ChartDrawer&&) noexcept = default;
ChartDrawer& ChartDrawer::operator=(ChartDrawer&&) noexcept = default;

int ChartDrawer::rows() const { return static_cast<int>(state_->options.window); }
int ChartDrawer::columns() const { return static_cast<int>(roles_of(state_->spec).size()); }
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

void ChartDrawer::draw(const ArrayView& series, const ArrayView& images) const {
  const std::size_t dimensions = columns() == 1 && series.shape.size() == 2 ? 2 : 3;
  const std::int64_t given = series.shape.size() == dimensions ? series.shape[1] : rows();
  const std::int64_t most = std::int64_t{rows()} + history();
  std::vector<std::int64_t> shape = {series.shape.empty() ? 0 : series.shape[0],
                                     std::clamp(given, std::int64_t{rows()}, most)};
  if (dimensions == 3) shape.push_back(columns());
  require(series, "series", series.type == kFloat32 ? kFloat32 : kFloat64, shape);
  shape = image_shape();
  shape.insert(shape.begin(), series.shape[0]);
  require(images, "images", image_type(), shape);
  const auto count = static_cast<std::size_t>(series.shape[0]), before = static_cast<std::size_t>(given - rows());
  series.type == kFloat32 ? state_->draw(static_cast<const float*>(series.data), count, before, images.data)
                          : state_->draw(static_cast<const double*>(series.data), count, before, images.data);
}

}  // namespace millrace
