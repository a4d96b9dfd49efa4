#include "src/jobs/latents/analysis/profiles.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "src/jobs/latents/arrays_file.h"
#include "src/jobs/latents/dataset.h"

namespace millrace::latents {
namespace {

// Means and variances of elements, updated row by row (Welford 1962).
class RunningMoments {
 public:
  void add(std::span<const double> values) {
    if (values.empty() || values.front() != values.front()) return;  // a latent that was not measured
    mean_.resize(values.size());
    squares_.resize(values.size());
    ++count_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double apart = values[i] - mean_[i];
      mean_[i] += apart / count_;
      squares_[i] += apart * (values[i] - mean_[i]);
    }
  }
  const std::vector<double>& mean() const { return mean_; }
  std::vector<double> variance() const {
    std::vector<double> out(squares_.size(), Measures::kAbsent);
    for (std::size_t i = 0; count_ > 1 && i < out.size(); ++i) out[i] = squares_[i] / (count_ - 1);
    return out;
  }

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;
};

std::vector<double> take_square_roots(std::vector<double> values) {
  for (double& value : values) value = std::sqrt(value);
  return values;
}

}  // namespace

Profiles read_profiles(const std::string& arrays, const LatentsJobOptions& options, const LatentSet& set,
                       RunContext& context) {
  Profiles out;
  out.groups.resize(set.groups());
  const std::vector<std::uint32_t> group_of_video = set.group_numbers();
  std::vector<std::size_t> group_of;  // group of each latent
  for (const LatentFile& latent : set.files) group_of.push_back(group_of_video[latent.video]);
  const std::vector<long long> steps = set.steps();
  for (const std::size_t k : {std::size_t{0}, (steps.size() - 1) / 2, steps.size() - 1})
    if (out.spectrum_steps.empty() || out.spectrum_steps.back() != steps[k]) out.spectrum_steps.push_back(steps[k]);

  const auto spec = make_dataset_spec(options, set);
  ArraysFile file(arrays, set.files.size(), context);
  const auto visit_rows = [&](const char* name, const auto& visit) {
    const auto found =
        std::find_if(spec.arrays.begin(), spec.arrays.end(), [&](const ArraySpec& a) { return a.name == name; });
    if (found != spec.arrays.end()) file.visit_rows(name, found->shape, visit);
    context.throw_if_cancelled();
  };
  std::vector<RunningMoments> variance(out.groups.size()), correlation(variance), spectrum(variance);
  std::vector<std::vector<RunningMoments>> spectra(out.groups.size(),
                                                   std::vector<RunningMoments>(out.spectrum_steps.size()));
  visit_rows("channel.variance",
             [&](std::uint64_t row, std::span<const double> values) { variance[group_of[row]].add(values); });
  visit_rows("channel.correlation",
             [&](std::uint64_t row, std::span<const double> values) { correlation[group_of[row]].add(values); });
  visit_rows("frequency.spatial_spectrum", [&](std::uint64_t row, std::span<const double> values) {
    spectrum[group_of[row]].add(values);
    for (std::size_t k = 0; k < out.spectrum_steps.size(); ++k)
      if (set.files[row].step == out.spectrum_steps[k]) spectra[group_of[row]][k].add(values);
  });
  for (std::size_t g = 0; g < out.groups.size(); ++g) {
    GroupProfile& profile = out.groups[g];
    profile.channel_variance = variance[g].mean();
    profile.channel_variance_deviation = take_square_roots(variance[g].variance());
    profile.channel_correlation = correlation[g].mean();
    profile.spectrum = spectrum[g].mean();
    profile.spectrum_variance = spectrum[g].variance();
    for (const RunningMoments& rows : spectra[g]) profile.spectra.push_back(rows.mean());
  }
  return out;
}

}  // namespace millrace::latents
