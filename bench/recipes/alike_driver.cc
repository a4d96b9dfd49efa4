// Enters: thumbnails and pairs of them, as raw files written by alike_quality.py.
// Leaves: one Verdict a pair, raw, in their order, and the time a pair took on stderr.
// Never: used by the product.
//
//   alike_driver THUMBS PAIRS OUT    THUMBS: 12288 bytes each; PAIRS: int32 first, second,
//   orientation of
//                                    the second; OUT: twelve float32 a pair (kind first)
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "src/kernels/alike/alike.h"

using namespace millrace::alike;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto slurp = [](const char* path) {
    std::ifstream in(path, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(in), {});
  };
  const std::vector<char> thumbs = slurp(argv[1]), pairs = slurp(argv[2]);
  const std::size_t count = thumbs.size() / kThumbnailBytes, pair_count = pairs.size() / 12;
  std::vector<std::vector<Features>> features(kOrientations);
  const auto get = [&](std::size_t i, std::size_t o) -> const Features& {
    if (features[o].empty()) {
      for (std::size_t k = 0; k < count; ++k) {
        const std::span<const std::uint8_t, kThumbnailBytes> pixels(
            reinterpret_cast<const std::uint8_t*>(thumbs.data()) + k * kThumbnailBytes,
            kThumbnailBytes);
        features[o].push_back(features_of(oriented(pixels, static_cast<int>(o))));
      }
    }
    return features[o][i];
  };
  std::vector<float> out;
  double seconds[3] = {0, 0, 0};
  long counts[3] = {0, 0, 0};
  for (std::size_t k = 0; k < pair_count; ++k) {
    std::int32_t p[3];
    std::memcpy(p, pairs.data() + 12 * k, 12);
    const Features& a = get(static_cast<std::size_t>(p[0]), 0);
    const Features& b = get(static_cast<std::size_t>(p[1]), static_cast<std::size_t>(p[2]));
    const auto start = std::chrono::steady_clock::now();
    const Verdict v = compare(a, b);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const std::size_t kind =
        v.overlap == 0 ? 2 : static_cast<std::size_t>(v.kind == Kind::same ? 0 : 1);
    seconds[kind] += took.count();
    ++counts[kind];
    for (const float f :
         {static_cast<float>(v.kind), v.score, v.coarse, v.overlap, v.structure, v.correlation,
          v.movement, v.moved_share, v.chroma, v.tone, v.fit, v.contrast}) {
      out.push_back(f);
    }
  }
  std::ofstream(argv[3], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()),
             static_cast<std::streamsize>(out.size() * 4));
  const char* names[3] = {"same", "rejected late", "rejected early"};
  for (int k = 0; k < 3; ++k) {
    std::fprintf(stderr, "%s: %ld pairs, %.4f ms each\n", names[k], counts[k],
                 counts[k] ? seconds[k] / static_cast<double>(counts[k]) * 1e3 : 0.0);
  }
  return 0;
}
