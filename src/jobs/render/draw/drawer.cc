#include "include/millrace/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/jobs/render/draw/chart.h"
#include "src/jobs/render/encode/format.h"
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
        roles(roles_of(options)),
        format(options),
        executor(given.threads),
        scratches([this] { return std::make_unique<DrawerScratch>(options, format); }) {}

  // What one thread draws with.
  struct DrawerScratch {
    DrawerScratch(const Options& options, const Format& format) : style(make_style(options)), packer(format) {}
    std::unique_ptr<ChartStyle> style;
    PixelPacker packer;
    Window window;
    rle::Image picture;
    Buffer<std::uint8_t> memory;
  };

  template <typename Number>
  void draw(const Number* series, std::size_t count, std::size_t before, void* images) {
    const auto rows = static_cast<std::size_t>(options.window);
    const std::size_t each = (before + rows) * roles.size();
    const std::size_t image = format.image_bytes();
    auto* out = static_cast<std::uint8_t*>(images);
    // A batch that no cache holds is written past them.
    constexpr std::size_t kCached = 16 << 20;
    const bool large = count * image > kCached;
    executor.parallel_for(count, 4, [&](std::size_t from, std::size_t to) {
      const std::shared_ptr<DrawerScratch> scratch = scratches.take();
      for (std::size_t i = from; i < to; ++i) {
        take(series + i * each, before, rows, scratch->window);
        scratch->style->draw(scratch->window, scratch->picture);
        const rle::Image& picture = scratch->packer.pack(scratch->picture);
        large ? rle::paint_past_caches(picture, format.pixels, scratch->memory, out + i * image)
              : rle::paint(picture, format.pixels, out + i * image);
      }
      if (large) rle::paint_end();
    });
  }

  template <typename Number>
  void take(const Number* series, std::size_t before, std::size_t rows, Window& window) const {
    const std::size_t columns = roles.size();
    const auto value = [&](std::size_t row, std::size_t column) {
      const auto v = static_cast<double>(series[row * columns + column]);
      return std::abs(v) <= kLargest ? v : std::numeric_limits<double>::quiet_NaN();
    };
    window.before.clear();
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<double>& out = window.rows[roles[c]];
      out.resize(rows);
      for (std::size_t r = 0; r < rows; ++r) out[r] = value(before + r, c);
      if (roles[c] != kClose) continue;
      for (std::size_t r = 0; r < before; ++r) window.before.push_back(value(r, c));
    }
  }

  const Options options;
  const std::vector<Role> roles;
  const Format format;
  const Executor executor;
  Pool<DrawerScratch> scratches;
};

ChartDrawer::ChartDrawer(const ChartOptions& options) : state_(std::make_unique<State>(options)) {}
ChartDrawer::~ChartDrawer() = default;
ChartDrawer::ChartDrawer(ChartDrawer&&) noexcept = default;
ChartDrawer& ChartDrawer::operator=(ChartDrawer&&) noexcept = default;

int ChartDrawer::rows() const { return static_cast<int>(state_->options.window); }
int ChartDrawer::columns() const { return static_cast<int>(state_->roles.size()); }
int ChartDrawer::history() const { return static_cast<int>(history_of(state_->options)); }
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
