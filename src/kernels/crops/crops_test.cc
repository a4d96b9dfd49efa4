#include "src/kernels/crops/crops.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "src/kernels/kernel_test.h"

namespace millrace::crops {
namespace {

constexpr std::size_t kSide = 64;
using Squeezed = std::array<std::uint8_t, kSide * kSide * 3>;

// A scene of waves with a falling spectrum, any window of which can be rendered exactly.
class Scene {
 public:
  explicit Scene(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(0, 1);
    for (int i = 0; i < 24; ++i) {
      const double cx = 6 * any(random) - 3, cy = 6 * any(random) - 3;
      waves_.push_back({cx, cy, 2 * M_PI * any(random), 40 / (1 + std::hypot(cx, cy))});
    }
    for (double& c : colour_) c = 60 * any(random) - 30;
  }
  std::array<std::uint8_t, 3> at(double x, double y) const {
    double v = 128;
    for (const Wave& w : waves_) v += w.strength * std::cos(2 * M_PI * (w.cx * x + w.cy * y) + w.phase);
    std::array<std::uint8_t, 3> out;
    for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(std::clamp(v + colour_[c], 0.0, 255.0));
    return out;
  }
  Squeezed window(const CropArea& area) const {
    Squeezed out;
    for (std::size_t y = 0; y < kSide; ++y) {
      for (std::size_t x = 0; x < kSide; ++x) {
        const auto share = [](std::size_t i, float from, float to) {
          return from + (static_cast<double>(i) + 0.5) / kSide * (static_cast<double>(to) - from);
        };
        const auto p = at(share(x, area.left, area.right), share(y, area.top, area.bottom));
        std::copy(p.begin(), p.end(), out.begin() + static_cast<std::ptrdiff_t>(3 * (y * kSide + x)));
      }
    }
    return out;
  }
  // Returns the codes of a window of a picture of 3 to 2.
  CropCodes codes(const CropArea& area = {}) const {
    return codes_of(window(area), static_cast<int>(std::lround(1200 * (area.right - area.left))),
                    static_cast<int>(std::lround(800 * (area.bottom - area.top))), {});
  }

 private:
  struct Wave {
    double cx, cy, phase, strength;
  };
  std::vector<Wave> waves_;
  std::array<double, 3> colour_{};
};

bool meets(const CropCodes& one, const CropCodes& other) {
  for (std::size_t p = 0; p < kCropCount; ++p) {
    if (can_match(one, p, other)) return true;
  }
  return false;
}

TEST(Parts, AWindowMeetsWhatIsCutOutThere) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Scene scene(seed);
    const CropCodes whole = scene.codes();
    for (std::size_t p = 0; p < kWindows; ++p) {
      // Strips, which nobody crops, have no code.
      if (whole.parts[p] == kSilent) continue;
      EXPECT_TRUE(can_match(whole, p, scene.codes(view_of(p, {}).area))) << seed << " window " << p;
    }
  }
}

TEST(Parts, EachPartIsOneOfItsKind) {
  std::array<std::size_t, 3> count{};
  for (std::size_t p = 0; p < kCropCount; ++p) {
    const CropIndex place = crop_index_of(p);
    EXPECT_EQ(crop_at(place), p);
    EXPECT_EQ(place.index, count[static_cast<std::size_t>(place.kind)]++);
    EXPECT_EQ(view_of(p, {}).orientation != Orientation::upright, place.kind == CropKind::turned);
  }
  EXPECT_EQ(count, (std::array<std::size_t, 3>{kWindows, kTurned, kBoxes}));
}

TEST(Parts, WindowsStandInsideAndEachOnce) {
  for (std::size_t p = 0; p < kWindows; ++p) {
    const CropArea a = view_of(p, {}).area;
    EXPECT_GE(a.left, 0);
    EXPECT_GE(a.top, 0);
    EXPECT_LE(a.right, 1.0F + 1e-6F);
    EXPECT_LE(a.bottom, 1.0F + 1e-6F);
    for (std::size_t q = 0; q < p; ++q) EXPECT_FALSE(view_of(q, {}).area == a) << p << " and " << q;
  }
}

TEST(Parts, CutsAnywhereAreMet) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> any(0, 1);
  int met = 0, all = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Scene scene(seed);
    const CropCodes whole = scene.codes();
    for (int i = 0; i < 10; ++i) {
      const float size = 0.7F + 0.25F * any(random), left = (1 - size) * any(random), top = (1 - size) * any(random);
      met += meets(whole, scene.codes({left, top, left + size, top + size})) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(met, all * 9 / 10) << met << " of " << all;
}

TEST(Parts, OtherPicturesDoNotMeet) {
  std::vector<CropCodes> codes;
  for (unsigned seed = 0; seed < 100; ++seed) codes.push_back(Scene(1000 + seed).codes());
  int met = 0;
  for (const CropCodes& a : codes) {
    for (const CropCodes& b : codes) met += &a != &b && meets(a, b) ? 1 : 0;
  }
  EXPECT_LE(met, 10);  // pairs of 9,900
}

TEST(Parts, EachOrientationMeetsThePictureTurned) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Scene scene(seed);
    const Squeezed upright = scene.window({});
    const CropCodes whole = scene.codes();
    for (std::size_t t = 0; t < kTurned; ++t) {
      const std::size_t part = crop_at({CropKind::turned, t});
      const Orientation o = view_of(part, {}).orientation;
      const auto pixels = oriented(upright.data(), kSide, kSide, 3, o);
      const CropCodes turned = codes_of(std::span<const std::uint8_t, kSide * kSide * 3>(pixels),
                                        swaps_sides(o) ? 800 : 1200, swaps_sides(o) ? 1200 : 800, {});
      EXPECT_TRUE(can_match(whole, part, turned)) << seed << " orientation " << static_cast<int>(o);
    }
  }
}

TEST(Parts, APlainPictureMeetsNobody) {
  Squeezed plain;
  std::mt19937 random(1);
  for (std::uint8_t& v : plain) v = static_cast<std::uint8_t>(200 + random() % 2);
  const CropCodes codes = codes_of(plain, 100, 100, {});
  EXPECT_EQ(codes.whole, kSilent);
  for (std::size_t p = 0; p < kCropCount; ++p) EXPECT_FALSE(can_match(codes, p, codes));
}

TEST(Parts, OfOtherProportionsOrColoursNobodyMeets) {
  const Scene scene(3);
  const CropCodes whole = scene.codes();
  CropCodes cut = scene.codes({0, 0, 0.82F, 0.82F});
  ASSERT_TRUE(meets(whole, cut));
  const std::int8_t sides = cut.sides;
  cut.sides = static_cast<std::int8_t>(sides + 12);
  EXPECT_FALSE(meets(whole, cut));
  cut.sides = sides;
  cut.whole = (cut.whole & ((CropCode{1} << kSigns) - 1)) | CropCode{128} << 48 | CropCode{255} << 56;
  EXPECT_FALSE(meets(whole, cut));
}

// A thumbnail of a scene with something around it.
struct Framed {
  int width, height;
  std::vector<std::uint8_t> rgb;

  // `around(x, y)` returns the pixels outside `box`, in pixels.
  template <class Around>
  Framed(const Scene& scene, int w, int h, const std::array<int, 4>& box, const Around& around) : width(w), height(h) {
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        const bool inside = x >= box[0] && x < box[2] && y >= box[1] && y < box[3];
        const std::array<std::uint8_t, 3> p =
            inside ? scene.at((x + 0.5 - box[0]) / (box[2] - box[0]), (y + 0.5 - box[1]) / (box[3] - box[1]))
                   : around(x, y);
        rgb.insert(rgb.end(), p.begin(), p.end());
      }
    }
  }
  bool finds(const std::array<int, 4>& box, float within) const {
    const std::vector<CropArea> boxes = content_boxes(rgb, width, height);
    EXPECT_LE(boxes.size(), kBoxes);
    return std::any_of(boxes.begin(), boxes.end(), [&](const CropArea& a) {
      const auto w = static_cast<float>(width), h = static_cast<float>(height);
      return std::fabs(a.left * w - static_cast<float>(box[0])) <= within &&
             std::fabs(a.top * h - static_cast<float>(box[1])) <= within &&
             std::fabs(a.right * w - static_cast<float>(box[2])) <= within &&
             std::fabs(a.bottom * h - static_cast<float>(box[3])) <= within;
    });
  }
};

using Pixel = std::array<std::uint8_t, 3>;

TEST(ContentBoxes, FindWhatFramesEnclose) {
  int found = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Scene scene(seed);
    for (const Pixel& tone : {Pixel{0, 0, 0}, Pixel{255, 255, 255}, Pixel{30, 60, 160}}) {
      for (const std::array<int, 4>& box :
           {std::array{0, 16, 128, 80}, {24, 0, 104, 96}, {6, 6, 122, 90}, {5, 5, 123, 70}})
        found += Framed(scene, 128, 96, box, [&](int, int) { return tone; }).finds(box, 1.5F) ? 1 : 0;
    }
  }
  EXPECT_GE(found, 114) << "of 120";
}

TEST(ContentBoxes, FindAPictureOnAScreen) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    // A dark ground with rows of light text and symbols above and below.
    const auto screen = [](int x, int y) {
      const bool text = (y > 2 && y < 6 && x % 9 < 3 && x < 24) || (y > 116 && y < 121 && x % 17 == 8);
      return text ? Pixel{220, 220, 220} : Pixel{12, 12, 14};
    };
    const std::array<int, 4> box = {0, 40, 60, 88};
    found += Framed(Scene(seed), 60, 128, box, screen).finds(box, 1.5F) ? 1 : 0;
  }
  EXPECT_GE(found, 18) << "of 20";
}

TEST(ContentBoxes, FindAPictureBeforeItselfBlurred) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Scene scene(seed), soft(seed + 500);
    const auto blurred = [&](int x, int y) {
      const Pixel p = soft.at(0.1 + 0.1 * x / 96.0, 0.1 + 0.1 * y / 128.0);
      return Pixel{static_cast<std::uint8_t>(p[0] / 2 + 90), static_cast<std::uint8_t>(p[1] / 2 + 40), p[2]};
    };
    const std::array<int, 4> box = {0, 30, 96, 98};
    found += Framed(scene, 96, 128, box, blurred).finds(box, 1.5F) ? 1 : 0;
  }
  EXPECT_GE(found, 17) << "of 20";
}

TEST(ContentBoxes, StandUpToTinyAndPlainPictures) {
  for (const auto& [w, h] : {std::pair{1, 1}, {2, 128}, {128, 2}, {16, 16}, {512, 1}}) {
    const std::vector<std::uint8_t> plain(3 * static_cast<std::size_t>(w) * static_cast<std::size_t>(h), 77);
    for (const CropArea& a : content_boxes(plain, w, h)) {
      EXPECT_GE(a.right - a.left, 0);
      EXPECT_GE(a.bottom - a.top, 0);
    }
    const auto noise = random_bytes(plain.size(), 3);
    for (const CropArea& a : content_boxes(noise, w, h)) EXPECT_LE(a.right, 1);
  }
}

TEST(FindNear, IsNearOfEachAtEveryLevel) {
  std::mt19937_64 random(9);
  std::vector<CropCode> codes(1000);
  for (CropCode& c : codes) {
    c = random() % 3 == 0 ? random() : CropCode{0x8080123456789ABC};
    for (std::uint64_t flips = random() % 14; flips > 0; --flips) c ^= CropCode{1} << random() % kSigns;
    if (random() % 2 == 0) c += random() % 7 << 48;
    if (random() % 2 == 0) c -= random() % 7 << 56;
  }
  codes.resize(codes.size() + kReadBeyond, CropCode{0x8080123456789ABC});
  const std::vector<crops::CodeRun> runs = {{CropCode{0x8080123456789ABC}, 0, 1000},
                                            {CropCode{0x8080123456789ABC}, 17, 18},
                                            {CropCode{0x8080123456789ABC}, 500, 500},
                                            {CropCode{0x8282123456789ABC}, 3, 996},
                                            {kSilent, 0, 1000}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    for (std::uint32_t i = runs[r].begin; i < runs[r].end; ++i) {
      if (is_near(runs[r].code, codes[i])) expected.emplace_back(r, i);
    }
  }
  ASSERT_GT(expected.size(), 100U);
  at_every_cpu_level([&] {
    std::vector<CodeMatch> found;
    find_matches(runs, codes.data(), found);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(std::pair(found[i].run, found[i].place), expected[i]);
  });
}

}  // namespace
}  // namespace millrace::crops
