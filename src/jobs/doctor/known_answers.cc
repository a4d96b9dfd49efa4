#include "src/jobs/doctor/known_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>

#include "src/base/text.h"
#include "src/kernels/alike/alike.h"
#include "src/kernels/hamming/hamming.h"
#include "src/kernels/hash/hash.h"
#include "src/kernels/luma/luma.h"
#include "src/kernels/pdq/pdq.h"
#include "src/kernels/resize/resize.h"

namespace millrace::doctor {
namespace {

// Sides that are no multiple of any vector, so that every loop's rest is run too.
constexpr int kWidth = 613, kHeight = 419;
constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;

// Knuth's 64-bit linear congruential generator: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  std::uint64_t next64() { return std::uint64_t{next()} << 32 | next(); }
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint32_t>(n)); }

 private:
  std::uint64_t state_;
};

// FNV-1a: a digest that needs no library and no vector code.
class Digest {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t b : bytes) hash_ = (hash_ ^ b) * 1099511628211U;
  }
  void add(std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) hash_ = (hash_ ^ (word >> shift & 255)) * 1099511628211U;
  }
  void add(float value) { add(std::bit_cast<std::uint32_t>(value)); }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 14695981039346656037U;
};

// Rectangles of one colour over slopes, with a little noise: edges, flat places and every level of
// brightness.
std::vector<std::uint8_t> make_picture(int width, int height, std::uint64_t seed) {
  Random random(seed);
  struct Rectangle {
    int left, top, right, bottom;
    std::array<int, 3> colour;
  };
  std::vector<Rectangle> rectangles;
  for (int i = 0; i < 14; ++i) {
    Rectangle r{};
    r.left = random.below(width);
    r.top = random.below(height);
    r.right = r.left + width / 12 + random.below(width / 3);
    r.bottom = r.top + height / 12 + random.below(height / 3);
    for (int& c : r.colour) c = random.below(256);
    rectangles.push_back(r);
  }
  std::vector<std::uint8_t> rgb;
  rgb.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::array<int, 3> colour = {x * 255 / width, y * 255 / height, (x + y) * 255 / (width + height)};
      for (const Rectangle& r : rectangles) {
        if (x >= r.left && x < r.right && y >= r.top && y < r.bottom) colour = r.colour;
      }
      for (const int c : colour) {
        const int v = c + random.below(9) - 4;
        rgb.push_back(static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v));
      }
    }
  }
  return rgb;
}

struct Material {
  std::vector<std::uint8_t> rgb = make_picture(kWidth, kHeight, 1);
  std::vector<std::uint8_t> luma = luma_reference();
  std::vector<std::uint64_t> codes = make_codes<std::uint64_t>(2);
  std::vector<hamming::Code256> long_codes = make_codes<hamming::Code256>(3);

 private:
  std::vector<std::uint8_t> luma_reference() const {
    std::vector<std::uint8_t> out(kPixels);
    luma_from_rgb_reference(rgb.data(), out.data(), kPixels);
    return out;
  }

  // 40 clusters of codes some bits apart.
  template <typename Code>
  static std::vector<Code> make_codes(std::uint64_t seed) {
    Random random(seed);
    constexpr std::size_t kWords = sizeof(Code) / 8;
    std::vector<Code> codes;
    for (int cluster = 0; cluster < 40; ++cluster) {
      std::array<std::uint64_t, kWords> centre{};
      for (auto& word : centre) word = random.next64();
      for (int i = 0; i < 25; ++i) {
        auto words = centre;
        for (int flips = random.below(6); flips > 0; --flips) {
          const auto bit = static_cast<std::size_t>(random.below(static_cast<int>(64 * kWords)));
          words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
        }
        codes.push_back(std::bit_cast<Code>(words));
      }
    }
    return codes;
  }
};

std::string luma_answer(const Material& material) {
  std::vector<std::uint8_t> luma(kPixels);
  luma_from_rgb(material.rgb.data(), luma.data(), kPixels);
  Digest digest;
  digest.add(luma);
  return digest.text();
}

std::string resize_answer(const Material& material, int width, int height) {
  Resizer resizer(kWidth, kHeight, width, height);
  // In uneven portions, as a decoder gives them.
  for (int y = 0; y < kHeight; y += 37) {
    resizer.push(material.luma.data() + static_cast<std::size_t>(y) * kWidth, kWidth, std::min(37, kHeight - y));
  }
  Digest digest;
  digest.add({resizer.result(), static_cast<std::size_t>(width) * static_cast<std::size_t>(height)});
  return digest.text();
}

std::string hash_answer(const Material& material, HashKind kind) {
  PictureHasher hasher({{kind}, 8}, kWidth, kHeight);
  hasher.push(material.rgb.data(), std::ptrdiff_t{3} * kWidth, kHeight, 3);
  const PictureHashes hashes = hasher.finish();
  return fmt::format("{} {}", hex_of_bits(hashes.bits.at(0)), hashes.quality);
}

std::string pdq_answer(const Material& material) {
  PdqHasher hasher(kWidth, kHeight);
  hasher.push(material.rgb.data(), std::ptrdiff_t{3} * kWidth, kHeight, 3);
  const PdqHash hash = hasher.finish();
  return fmt::format("{} {}", hex_of_bytes(hash.bytes), hash.quality);
}

template <typename Code>
std::string join_answer(const std::vector<Code>& codes, int radius, hamming::Algorithm algorithm) {
  const Executor executor(1);
  Budget budget(256_MiB);
  const hamming::Joined joined =
      hamming::self_join(std::span<const Code>(codes), {.radius = radius, .algorithm = algorithm}, executor, budget);
  Digest digest;
  for (const hamming::Pair& pair : joined.pairs.list.span()) {
    digest.add(pair.i);
    digest.add(pair.j);
    digest.add(pair.distance);
  }
  return fmt::format("{} of {}, {}", joined.pairs.list.size(), joined.expanded, digest.text());
}

std::string alike_answer() {
  const std::vector<std::uint8_t> original = make_picture(alike::kSide, alike::kSide, 4);
  std::vector<std::uint8_t> brighter = original, turned = original;
  for (std::size_t i = 0; i < brighter.size(); ++i) {
    brighter[i] = static_cast<std::uint8_t>(std::min(255, original[i] * 9 / 8 + 6));
    turned[i] = original[i / 3 * 3 + (i + 1) % 3];
  }
  const auto features = [](const std::vector<std::uint8_t>& pixels) {
    return alike::features_of(std::span<const std::uint8_t, alike::kThumbnailBytes>(pixels));
  };
  const alike::Features first = features(original);
  Digest digest;
  std::string kinds;
  for (const auto& other : {brighter, turned, make_picture(alike::kSide, alike::kSide, 5)}) {
    const alike::Verdict v = alike::compare(first, features(other));
    kinds += fmt::format("{} ", alike::name_of(v.kind));
    for (const float f : {v.score, v.coarse, v.fit, v.overlap, v.structure, v.correlation, v.movement, v.moved_share,
                          v.chroma, v.tone, v.contrast}) {
      digest.add(f);
    }
  }
  return kinds + digest.text();
}

struct Step {
  const char* operation;
  const char* expected;
  std::function<std::string(const Material&)> run;
};

// Luma, hashes and pdq are what Pillow 13.0.0, imagehash 4.3.2 and pdqhash 0.2.8 give for the same
// picture; the others are the reference versions'.
const std::vector<Step>& steps() {
  using hamming::Algorithm;
  static const std::vector<Step> all = {
      {"luma", "f2a5462ebf72a11f", luma_answer},
      {"resize to 97 x 64", "f587141a019ff64b", [](const Material& m) { return resize_answer(m, 97, 64); }},
      {"resize to 9 x 8", "e8113e07fd49c9ee", [](const Material& m) { return resize_answer(m, 9, 8); }},
      {"resize to 700 x 8", "19cd91df3efe083b", [](const Material& m) { return resize_answer(m, 700, 8); }},
      {"ahash", "000707077c7ebf9f 100", [](const Material& m) { return hash_answer(m, HashKind::ahash); }},
      {"dhash", "fd8d8dbde0dc7e7e 100", [](const Material& m) { return hash_answer(m, HashKind::dhash); }},
      {"dhash_vertical", "efc7f8f8ac879f8f 100",
       [](const Material& m) { return hash_answer(m, HashKind::dhash_vertical); }},
      {"phash", "96223f4b4d2c734d 100", [](const Material& m) { return hash_answer(m, HashKind::phash); }},
      {"whash", "000707077c7e3f9f 100", [](const Material& m) { return hash_answer(m, HashKind::whash); }},
      {"colorhash", "01048000201 100", [](const Material& m) { return hash_answer(m, HashKind::colorhash); }},
      {"pdq", "f97db0240f669b22d8b549720bc6561cf8cb47d994c6721a345936c9157eeba2 100", pdq_answer},
      {"hamming join, 64 bits, brute force", "6553 of 9535, 103b0a171ee45376",
       [](const Material& m) { return join_answer(m.codes, 6, Algorithm::brute); }},
      {"hamming join, 64 bits, index", "6553 of 9535, 103b0a171ee45376",
       [](const Material& m) { return join_answer(m.codes, 6, Algorithm::index); }},
      {"hamming join, 256 bits", "9095 of 11636, 92d92813e56b4507",
       [](const Material& m) { return join_answer(m.long_codes, 9, Algorithm::brute); }},
      {"alike", "same recoloured different ef307f5b7fb67d22", [](const Material&) { return alike_answer(); }},
  };
  return all;
}

// The level in use must come back even when a step throws.
class KeepLevel {
 public:
  KeepLevel() : level_(current_cpu_level()) {}
  ~KeepLevel() { use_cpu_level(level_); }
  KeepLevel(const KeepLevel&) = delete;
  KeepLevel& operator=(const KeepLevel&) = delete;

 private:
  CpuLevel level_;
};

}  // namespace

std::vector<SelfTestResult> run_self_test() {
  const KeepLevel keep;
  const Material material;
  std::vector<SelfTestResult> results;
  for (const CpuLevel level : available_cpu_levels()) {
    use_cpu_level(level);
    for (const Step& step : steps()) {
      SelfTestResult result{level, step.operation, step.expected, {}};
      try {
        result.got = step.run(material);
      } catch (const std::exception& e) {
        result.got = fmt::format("a failure: {}", e.what());
      }
      results.push_back(std::move(result));
    }
  }
  return results;
}

}  // namespace millrace::doctor
