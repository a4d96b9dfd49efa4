// Input: a shape of latents, and the metrics that are wanted.
// Output: the numbers that describe both to kernels (body/layout.inc), and the memory of a latent on a device. Sums and
//   counts that come from there are read into Sums and Binned.
// Never: touches a device. Only latents_device.cc and latents_memory.cc use this file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/latents/body/layout.inc"
#include "src/kernels/latents/latents_finish.h"

namespace millrace::latents {

// Elements of the arrays that a device keeps for one latent.
struct LatentSizes {
  std::uint64_t values = 0;  // float16 or float32, which the caller's memory may hold
  std::uint64_t planes = 0, follow = 0, images = 0, rows = 0, product_rows = 0, moments = 0, places = 0, spectra = 0,
                ranges = 0, edges = 0;
  std::uint64_t sums = 0, counts = 0;

  // Returns the bytes without the values.
  std::uint64_t bytes() const;
  // Returns the elements of the largest array.
  std::uint64_t most() const;
};

constexpr std::uint64_t blocks_of(std::uint64_t count, std::uint64_t each) { return (count + each - 1) / each; }

struct BatchPlan {
  BatchPlan(const LatentShape& shape, const MetricSelection& metrics);

  // A step of the columns' transforms.
  struct Step {
    std::uint32_t radix = 0, before = 0, first = 0;  // first: index of its twiddle factors
  };

  LatentShape shape;
  MetricSelection metrics;
  RequiredSums wanted;
  SpectrumPlan spectra;
  std::size_t groups;
  LatentSizes room;
  std::vector<std::uint32_t> numbers;  // LATENTS_SHAPE of them; numbers_of() adds the type
  std::vector<float> factors, weights, turns;
  std::vector<Step> steps;

  bool has_spectra() const { return wanted.spectra && spectra.radii > 0; }
  bool has_pairs() const { return (wanted.mutual || wanted.mutual_published) && shape.channels > 1; }
  // Number of a latent's planes, each of sixteen channels.
  std::uint64_t planes() const { return static_cast<std::uint64_t>(shape.frames) * groups; }
  // Largest number of latents at once: no array has more elements than 31 bits count. It is 0 if one latent is too
  // large.
  std::uint64_t most() const;
  // Returns `numbers` for float16 or float32.
  std::vector<std::uint32_t> numbers_of(bool halves) const;

  // Reads a latent's sums and counts, as they come from a device.
  void read(std::span<const double> from, std::span<const std::uint32_t> counts, Sums& sums, BinCounts& binned) const;

 private:
  void lay_out_sums();
  void lay_out_patches();
  void add_weights();
  void add_members();
};

}  // namespace millrace::latents
