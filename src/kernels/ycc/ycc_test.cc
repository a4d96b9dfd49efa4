#include "src/kernels/ycc/ycc.h"

#include <algorithm>

#include "src/kernels/kernel_test.h"
#include "src/kernels/ycc/ycc_math.h"

namespace millrace {
namespace {

// A row of chroma with the repeated ends that ChromaRow requires.
struct Chroma {
  std::vector<std::uint8_t> cb, cr, reach;

  Chroma(std::vector<std::uint8_t> b, std::vector<std::uint8_t> r)
      : cb(std::move(b)), cr(std::move(r)), reach(cb.size() + kYccBeyond) {
    const auto samples = static_cast<int>(cb.size());
    for (auto* plane : {&cb, &cr}) {
      plane->insert(plane->begin(), plane->front());
      plane->push_back(plane->back());
      plane->resize(plane->size() + kYccBeyond, 77);
    }
    chroma_reach(cb.data() + 1, cr.data() + 1, reach.data(), samples);
  }
  ChromaRow row() const { return {cb.data() + 1, cr.data() + 1, reach.data()}; }
};

void expect_the_definition(const std::vector<std::uint8_t>& y, const Chroma& near, const Chroma& far) {
  std::vector<std::uint8_t> fast = y, slow = y;
  fast.resize(y.size() + kYccBeyond);
  luma_from_ycc420(fast.data(), near.row(), far.row(), static_cast<int>(y.size()));
  fast.resize(y.size());
  luma_from_ycc420_reference(slow.data(), near.row(), far.row(), static_cast<int>(y.size()));
  ASSERT_EQ(fast, slow) << "width " << y.size();
}

TEST(Ycc, EveryTripleOfYCbCr) {
  std::vector<std::uint8_t> y(256);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::uint8_t>(i);
  at_every_cpu_level([&] {
    for (int pair = 0; pair < 65536; ++pair) {
      const Chroma flat(std::vector<std::uint8_t>(128, static_cast<std::uint8_t>(pair >> 8)),
                        std::vector<std::uint8_t>(128, static_cast<std::uint8_t>(pair)));
      std::vector<std::uint8_t> luma = y;
      luma.resize(256 + kYccBeyond);
      luma_from_ycc420(luma.data(), flat.row(), flat.row(), 256);
      for (int i = 0; i < 256; ++i) {
        ASSERT_EQ(luma[static_cast<std::size_t>(i)], luma_of_ycc(i, (pair >> 8) - 128, (pair & 255) - 128)) << pair;
      }
    }
  });
}

TEST(Ycc, EqualsTheDefinitionAtEveryLevelAndWidth) {
  at_every_cpu_level([] {
    for (const int width : {1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 128, 129, 130, 1000, 4001}) {
      // The strengths range from chroma that clips almost no pixel to chroma that clips almost every one.
      for (const int strength : {1, 8, 32, 128}) {
        const auto size = static_cast<std::size_t>(width);
        const auto chroma = [&](unsigned seed) {
          auto bytes = random_bytes((size + 1) / 2, seed + static_cast<unsigned>(width * strength));
          for (auto& b : bytes) b = static_cast<std::uint8_t>(128 + (b - 128) * strength / 128);
          return bytes;
        };
        const Chroma near(chroma(1), chroma(2)), far(chroma(3), chroma(4));
        expect_the_definition(random_bytes(size, 5), near, far);
      }
    }
  });
}

TEST(Ycc, WithoutColourLumaIsY) {
  at_every_cpu_level([] {
    const Chroma gray(std::vector<std::uint8_t>(500, 128), std::vector<std::uint8_t>(500, 128));
    const auto y = random_bytes(1000, 6);
    auto luma = y;
    luma.resize(1000 + kYccBeyond);
    luma_from_ycc420(luma.data(), gray.row(), gray.row(), 1000);
    luma.resize(1000);
    EXPECT_EQ(luma, y);
  });
}

}  // namespace
}  // namespace millrace
