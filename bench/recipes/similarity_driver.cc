// Input: thumbnails and pairs of them, as raw files written by similarity_quality.py.
// Output: one Comparison a pair, raw, in their order, and the processor time a pair took on stderr.
// Never: used by the product.
//
//   similarity_driver THUMBS PAIRS OUT    THUMBS: 12288 bytes each; PAIRS: int32 first, second, orientation
//                                         of the second (EXIF's number); OUT: twelve float32 a pair (kind first)
#include <time.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "src/kernels/similarity/similarity.h"

using namespace millrace::similarity;

// CPU time of this thread, so that other work on the machine does not count.
static double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto slurp = [](const char* path) {
    std::ifstream in(path, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(in), {});
  };
  const std::vector<char> thumbs = slurp(argv[1]), pairs = slurp(argv[2]);
  const std::size_t count = thumbs.size() / kThumbnailBytes, pair_count = pairs.size() / 12;
  std::vector<std::vector<Features>> features(millrace::kOrientations.size());
  const auto get = [&](std::size_t i, millrace::Orientation o) -> const Features& {
    std::vector<Features>& all = features[millrace::index_of(o)];
    if (all.empty()) {
      for (std::size_t k = 0; k < count; ++k) {
        const std::span<const std::uint8_t, kThumbnailBytes> pixels(
            reinterpret_cast<const std::uint8_t*>(thumbs.data()) + k * kThumbnailBytes, kThumbnailBytes);
        all.push_back(features_of(oriented(pixels, o)));
      }
    }
    return all[i];
  };
  std::vector<float> out;
  double seconds[3] = {0, 0, 0};
  long counts[3] = {0, 0, 0};
  for (std::size_t k = 0; k < pair_count; ++k) {
    std::int32_t p[3];
    std::memcpy(p, pairs.data() + 12 * k, 12);
    const Features& a = get(static_cast<std::size_t>(p[0]), millrace::Orientation::upright);
    const Features& b = get(static_cast<std::size_t>(p[1]), static_cast<millrace::Orientation>(p[2]));
    const double start = cpu_seconds();
    const Comparison v = compare(a, b);
    const double took = cpu_seconds() - start;
    const std::size_t kind = v.overlap == 0 ? 2 : static_cast<std::size_t>(v.kind == SimilarityKind::same ? 0 : 1);
    seconds[kind] += took;
    ++counts[kind];
    for (const float f : {static_cast<float>(v.kind), v.score, v.coarse, v.overlap, v.structure, v.correlation,
                          v.movement, v.moved_share, v.chroma, v.tone, v.fit, v.contrast}) {
      out.push_back(f);
    }
  }
  std::ofstream(argv[3], std::ios::binary)
      .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size() * 4));
  const char* names[3] = {"same", "rejected late", "rejected early"};
  for (int k = 0; k < 3; ++k) {
    std::fprintf(stderr, "%s: %ld pairs, %.4f ms each\n", names[k], counts[k],
                 counts[k] ? seconds[k] / static_cast<double>(counts[k]) * 1e3 : 0.0);
  }
  return 0;
}
