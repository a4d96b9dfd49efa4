#include "src/jobs/segment/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/text.h"
#include "src/report/number_format.h"

namespace millrace::segment {
namespace {

// Test for outliers: a value is far from the others if it is more than kFar deviations from the median. At least
// kEnough images are needed. Iglewicz and Hoaglin (1993) name 3.5. A deviation is 1.4826 times the median absolute
// deviation, which equals the standard deviation of a normal distribution.
constexpr double kFar = 3.5, kDeviation = 1.4826;
constexpr std::size_t kEnough = 8;
constexpr double kMuch = 0.5;  // share of the labeled pixels that models disagree on

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

struct TypicalValue {
  double middle = 0, deviation = 0;
  bool is_far(double value) const { return deviation > 0 && std::abs(value - middle) > kFar * deviation; }
};

// `least` is the smallest deviation used, as smaller ones are not visible.
TypicalValue typical_value_of(const std::vector<double>& values, double least) {
  TypicalValue out;
  if (values.size() < kEnough) return out;
  out.middle = median(values);
  std::vector<double> far;
  for (const double value : values) far.push_back(std::abs(value - out.middle));
  out.deviation = std::max(kDeviation * median(std::move(far)), least);
  return out;
}

std::string format_share(double share) { return report::format_number(100 * share, 2) + " %"; }

class SuspectFinder {
 public:
  SuspectFinder(const std::vector<PictureResult>& pictures, const Setup& setup) : pictures_(pictures), setup_(setup) {
    for (std::size_t k = 0; k < pictures.size(); ++k) out_.push_back({k, {}, 0, 0});
  }

  std::vector<Suspect> find_all() {
    constexpr double kDamaged = 1000, kDoubt = 100;
    for (std::size_t k = 0; k < pictures_.size(); ++k) {
      if (!pictures_[k].damage.empty()) add(k, kDamaged, "damaged: part of it is missing");
      if (!pictures_[k].field) continue;
      for (const std::string& doubt : pictures_[k].field->doubts) add(k, kDoubt, doubt);
    }
    for (std::size_t h = 0; h < setup_.heads.size(); ++h) {
      if (setup_.heads[h].task != model::ModelTask::segmentation) continue;
      find_empty(h);
      find_disagreeing(h);
      for (std::size_t c = 0; c < setup_.heads[h].classes.size(); ++c)
        if (is_foreground(setup_.heads[h], c)) find_outliers(h, c);
    }
    std::stable_sort(out_.begin(), out_.end(), [](const Suspect& a, const Suspect& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.disagreement > b.disagreement;
    });
    return std::move(out_);
  }

 private:
  void add(std::size_t picture, double weight, std::string why) {
    out_[picture].weight += weight;
    out_[picture].why.push_back(std::move(why));
  }
  // Returns a prefix with the output's name, if there are several outputs.
  std::string of(std::size_t h) const {
    return setup_.heads[h].name.empty() ? "" : fmt::format("{}: ", setup_.heads[h].name);
  }
  const ClassResult& class_of(std::size_t k, std::size_t h, std::size_t c) const {
    return pictures_[k].heads[h].classes[c];
  }

  void find_empty(std::size_t h) {
    constexpr double kWeight = 50;
    std::vector<std::size_t> empty;
    for (std::size_t k = 0; k < pictures_.size(); ++k) {
      std::uint64_t pixels = 0;
      for (std::size_t c = 0; c < setup_.heads[h].classes.size(); ++c)
        if (is_foreground(setup_.heads[h], c)) pixels += class_of(k, h, c).pixels;
      if (pixels == 0) empty.push_back(k);
    }
    if (2 * empty.size() >= pictures_.size()) return;
    for (const std::size_t k : empty) add(k, kWeight, of(h) + "nothing found");
  }

  void find_disagreeing(std::size_t h) {
    if (setup_.models.size() < 2) return;
    constexpr double kWeight = 40, kMinDeviation = 0.02;
    std::vector<double> shares;
    for (const PictureResult& each : pictures_) shares.push_back(each.disagreement(h));
    const TypicalValue usual = typical_value_of(shares, kMinDeviation);
    const bool most = is_disagreement_common(pictures_, h);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      out_[k].disagreement += shares[k];
      const bool more = usual.is_far(shares[k]) && shares[k] > usual.middle;
      if (more || (shares[k] > kMuch && !most))
        add(k, kWeight, fmt::format("{}models disagree on {}", of(h), format_share(shares[k])));
    }
  }

  void find_outliers(std::size_t h, std::size_t c) {
    constexpr double kWeight = 20, kEdge = 5, kMinDeviation = 0.002;
    const std::string name = of(h) + escape_unprintable(setup_.heads[h].classes[c].name);
    std::vector<double> shares;
    std::size_t at_edge = 0, with = 0;
    for (std::size_t k = 0; k < pictures_.size(); ++k) {
      const double all = static_cast<double>(pictures_[k].width) * pictures_[k].height;
      shares.push_back(static_cast<double>(class_of(k, h, c).pixels) / all);
      at_edge += class_of(k, h, c).at_edge > 0 ? 1 : 0;
      with += class_of(k, h, c).pixels > 0 ? 1 : 0;
    }
    const TypicalValue usual = typical_value_of(shares, kMinDeviation);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      if (usual.is_far(shares[k]) && shares[k] > 0)
        add(k, kWeight,
            fmt::format("{} covers {}, where {} is usual", name, format_share(shares[k]), format_share(usual.middle)));
      if (class_of(k, h, c).at_edge > 0 && 2 * at_edge < with) add(k, kEdge, name + " reaches the edge");
    }
  }

  const std::vector<PictureResult>& pictures_;
  const Setup& setup_;
  std::vector<Suspect> out_;
};

}  // namespace

bool is_disagreement_common(const std::vector<PictureResult>& pictures, std::size_t h) {
  const auto count = std::count_if(pictures.begin(), pictures.end(),
                                   [h](const PictureResult& each) { return each.disagreement(h) > kMuch; });
  return 2 * static_cast<std::size_t>(count) > pictures.size();
}

bool is_foreground(const model::Head& head, std::size_t c) { return head.has_background() || c > 0; }

std::vector<Suspect> rank_suspects(const std::vector<PictureResult>& pictures, const Setup& setup) {
  return SuspectFinder(pictures, setup).find_all();
}

}  // namespace millrace::segment
