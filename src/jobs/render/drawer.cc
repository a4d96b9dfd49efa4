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
    if (value >= 0 && value <= ink::kLongestSide) return value;
    throw Failure(ErrorCode::usage, fmt::format("{} is outside 0 to {}", value, ink::kLongestSide), name);
  };
  // One of them may be left to the style, which --size does not say.
  out.width = side("width", given.width);
  out.height = side("height", given.height);
  out.volume = given.volume;
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
