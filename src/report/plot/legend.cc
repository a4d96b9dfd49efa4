#include "src/report/plot/legend.h"

#include "src/base/text.h"
#include "src/report/number_format.h"

namespace millrace::report {
namespace {

constexpr double kRow = 17, kGap = 18;
constexpr std::size_t kMaxCharacters = 30;

double sample_width(Legend::Sample sample) { return sample == Legend::Sample::line ? 30 : 14; }

}  // namespace

Legend::Legend(const std::vector<std::string>& names, double width, Sample sample) : sample_(sample) {
  double x = 0;
  for (const std::string& name : names) {
    Item item{name, shorten_middle(escape_unprintable(name), kMaxCharacters), {0, 0}};
    const double needs = sample_width(sample) + 1.06 * text_width(item.shown) + kGap;
    if (x > 0 && x + needs > width) {
      x = 0;
      ++rows_;
    }
    item.at = {x, (rows_ - 1) * kRow + kRow / 2};
    x += needs;
    items_.push_back(std::move(item));
  }
}

double Legend::height() const { return rows_ * kRow; }

void Legend::draw(Svg& svg, PlotPoint corner) const {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const double x = corner[0] + item.at[0], y = corner[1] + item.at[1];
    svg.open_series(i, {});
    if (sample_ == Sample::line) {
      svg.path({{x, y}, {x + 24, y}}, dash_of(i));
      svg.mark({x + 12, y}, mark_of(i), 3);
    } else {
      svg.mark({x + 5, y}, mark_of(i), 4);
    }
    svg.close();
    svg.text({x + sample_width(sample_), y + 4}, item.shown, {},
             item.shown == item.name ? std::string_view() : item.name);
  }
}

}  // namespace millrace::report
