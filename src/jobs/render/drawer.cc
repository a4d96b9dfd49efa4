#include "include/millrace/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/jobs/render/chart.h"
#include "src/jobs/render/format.h"
#include "src/pipeline/pool.h"

namespace millrace::render {
namespace {

Options options_of(const ChartOptions& given) {
  Options out;
  out.style = given.style;
  const auto one_of = [](const char* name, const std::string& value, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    throw Failure(ErrorCode::usage, fmt::format("'{}' is none of {}", value, fmt::join(known, ", ")), name);
  };
  one_of("style", given.style, {"line", "ohlc", "candle", "jkx"});
  one_of("scale", given.scale, {"window", "log"});
  one_of("channels", given.channels, {"auto", "gray", "rgb"});
  one_of("dtype", given.dtype, {"u8", "f32", "bit"});
  const auto in = [](const char* name, double value, double lowest, double highest) {
    if (value >= lowest && value <= highest) return;
    throw Failure(ErrorCode::usage, "it is out of its range", name);
  };
  in("rows", given.rows, 0, 1 << 20);
  in("width", given.width, 0, ink::kLongestSide);
  in("height", given.height, 0, ink::kLongestSide);
  in("line_width", given.line_width, 0.1, 256);
  in("average", given.average, -1, 1 << 20);
  out.window = given.rows;
  out.width = given.width;
  out.height = given.height;
  out.line_width = given.line_width;
  out.scale = given.scale;
  out.ink = parse_colour(given.ink);
  out.paper = parse_colour(given.paper);
  out.rising = parse_colour(given.rising);
  out.falling = parse_colour(given.falling);
  out.channels = given.channels;
  out.dtype = given.dtype;
  out.volume = given.volume;
  out.average = given.average;
  out.settle();
  return out;
}

}  // namespace

struct ChartDrawer::State {
  explicit State(const ChartOptions& given)
      : options(options_of(given)), roles(roles_of(options)), format(options), executor(given.threads), desks([this] {
          return std::make_unique<Desk>(options, format);
        }) {}

  // What one thread draws with.
  struct Desk {
    Desk(const Options& options, const Format& format) : pen(make_pen(options)), packing(format) {}
    std::unique_ptr<ChartPen> pen;
    Packing packing;
    Window window;
    ink::Picture picture;
    Buffer<std::uint8_t> memory;
  };

  template <typename Number>
  void draw(const Number* series, std::size_t count, int history, void* images) {
    if (history < 0 || static_cast<std::size_t>(history) > history_of(options)) {
      throw Failure(ErrorCode::usage, "it is out of its range", "history");
    }
    const auto before = static_cast<std::size_t>(history), rows = static_cast<std::size_t>(options.window);
    const std::size_t each = (before + rows) * roles.size();
    const std::size_t image = format.image_bytes();
    auto* out = static_cast<std::uint8_t*>(images);
    // A batch that no cache holds is written past them.
    constexpr std::size_t kCached = 16 << 20;
    const bool large = count * image > kCached;
    executor.parallel_for(count, 4, [&](std::size_t from, std::size_t to) {
      const std::shared_ptr<Desk> desk = desks.take();
      for (std::size_t i = from; i < to; ++i) {
        take(series + i * each, before, rows, desk->window);
        desk->pen->draw(desk->window, desk->picture);
        const ink::Picture& picture = desk->packing.pack(desk->picture);
        large ? ink::paint_past_caches(picture, format.pixels, desk->memory, out + i * image)
              : ink::paint(picture, format.pixels, out + i * image);
      }
      if (large) ink::paint_end();
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
  Pool<Desk> desks;
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

void ChartDrawer::draw(const double* series, std::size_t count, int history, void* images) const {
  state_->draw(series, count, history, images);
}
void ChartDrawer::draw(const float* series, std::size_t count, int history, void* images) const {
  state_->draw(series, count, history, images);
}

}  // namespace millrace::render
