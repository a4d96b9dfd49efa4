#include "src/kernels/latents/latents.h"

#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::test_vectors {
namespace {

void add(Digest& digest, const latents::Measures& measures) {
  for (const double value : measures.values) digest.add(value == value ? value : -1.0);
  for (const auto* values :
       {&measures.variance, &measures.autocorrelation, &measures.edge_density, &measures.frame_correlation,
        &measures.motion, &measures.temporal_variance, &measures.channel_correlation, &measures.cross_interaction,
        &measures.spatial_spectrum, &measures.temporal_spectrum}) {
    for (const double value : *values) digest.add(value);
  }
}

// Covers more channels than lie side by side; sides with factors 2, 3, 7 and 17; few pixels and more.
std::string latents_answer(const TestInputs&) {
  Random random(14);
  Digest digest;
  for (const latents::LatentShape& shape : {latents::LatentShape{18, 3, 42, 34}, latents::LatentShape{4, 1, 9, 8}}) {
    latents::Analyzer analyzer(shape);
    latents::Measures measures;
    std::vector<std::uint16_t> halves(shape.elements());
    std::vector<float> floats(shape.elements());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      // Values are between 1/4 and 2, of both signs, and slowly growing.
      halves[i] = static_cast<std::uint16_t>((random.next() & 0x8BFFU) + 0x3400U);
      floats[i] = static_cast<float>(random.below(1 << 20)) * 0x1p-18F + static_cast<float>(i) * 0x1p-12F;
    }
    const std::vector<std::int64_t> sides = {shape.channels, shape.frames, shape.height, shape.width};
    analyzer.measure({halves.data(), kFloat16, sides, {}, MemoryKind::host, 0}, measures);
    add(digest, measures);
    analyzer.measure(view_of(floats.data(), sides), measures);
    add(digest, measures);
  }
  return digest.text();
}

constexpr KnownAnswer kLatentAnswers[] = {
    {"latents", "what is measured of latents", "fa356e1504822b94", latents_answer},
};

}  // namespace

std::span<const KnownAnswer> latent_answers() { return kLatentAnswers; }

}  // namespace millrace::test_vectors
