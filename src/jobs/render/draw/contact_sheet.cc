#include <algorithm>
#include <cmath>

#include "src/base/stopwatch.h"
#include "src/io/image/png_write.h"
#include "src/jobs/render/encode/format.h"
#include "src/jobs/render/run.h"

namespace millrace::render {
namespace {

constexpr int kMargin = 8;
constexpr std::uint8_t kSheetGray = 128;

// Returns the number of charts in a row, so that the sheet is about a third wider than high.
int choose_columns(std::uint64_t charts, int width, int height) {
  int columns = 1;
  const auto rows = [&](int c) {
    return static_cast<int>((charts + static_cast<std::uint64_t>(c) - 1) / static_cast<std::uint64_t>(c));
  };
  while (static_cast<std::uint64_t>(columns) < charts && 3 * columns * width < 4 * rows(columns) * height) ++columns;
  return columns;
}

}  // namespace

OutputKind sheet_kind() {
  return {"a contact sheet", ReadAccess::everyone, [](FileReader& file) { return is_own_png(file.peek()); }};
}

RenderSummary draw_sheet(const RenderOptions& options, const OutputTarget& output, RunContext& context) {
  const Stopwatch watch;
  const ChartPlan plan = make_plan(options, context);
  const auto count = std::min<std::uint64_t>(plan.charts, static_cast<std::uint64_t>(options.sample));
  const int columns = choose_columns(count, options.width, options.height);
  const int rows =
      static_cast<int>((count + static_cast<std::uint64_t>(columns) - 1) / static_cast<std::uint64_t>(columns));
  const int width = columns * (options.width + kMargin) + kMargin, height = rows * (options.height + kMargin) + kMargin;
  const auto channels = static_cast<std::size_t>(options.rgb ? 3 : 1),
             row = static_cast<std::size_t>(options.width) * channels,
             sheet_row = static_cast<std::size_t>(width) * channels;
  const rle::EncodedLevels pixels =
      rle::encoded_levels(colour_table_of(options), static_cast<int>(channels), rle::SampleDepth::bytes);
  // Memory for the sheet and for the PNG that is made of it.
  const Reservation reservation =
      context.budget.reserve(Bytes{2 * sheet_row * static_cast<std::size_t>(height)}, "the sheet");
  std::vector<std::uint8_t> sheet(sheet_row * static_cast<std::size_t>(height), kSheetGray);
  std::vector<std::uint8_t> chart(row * static_cast<std::size_t>(options.height));
  WindowRenderer renderer(plan, options);
  for (std::uint64_t i = 0; i < count; ++i) {
    rle::paint(renderer.draw(i * plan.charts / count), pixels, chart.data());
    const int left = kMargin + static_cast<int>(i % static_cast<std::uint64_t>(columns)) * (options.width + kMargin);
    const int top = kMargin + static_cast<int>(i / static_cast<std::uint64_t>(columns)) * (options.height + kMargin);
    for (int y = 0; y < options.height; ++y) {
      std::copy_n(
          chart.data() + static_cast<std::size_t>(y) * row, row,
          sheet.data() + static_cast<std::size_t>(top + y) * sheet_row + static_cast<std::size_t>(left) * channels);
    }
  }
  write_png(output, width, height, static_cast<int>(channels), sheet);
  RenderSummary summary = make_summary(plan, options);
  summary.charts = summary.drawn = count;
  summary.seconds = watch.seconds();
  return summary;
}

}  // namespace millrace::render
