// Reads ICC.1:2022: the header (7.2), tags (7.3), matrix and curves (annex E), curveType, parametricCurveType, XYZType
// (10.6, 10.18, 10.31). sRGB is that of IEC 61966-2-1.
#include "src/io/image/srgb_converter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "src/kernels/elementary.h"

namespace millrace {
namespace {

constexpr int kLevels = 256;

double power(double x, double exponent) { return x <= 0 ? 0 : exponential(exponent * logarithm(x)); }

double srgb_light(double x) { return x <= 0.04045 ? x / 12.92 : power((x + 0.055) / 1.055, 2.4); }

// Converts light between 0 and 1 to sRGB's number, by a table whose steps are finer than those of sRGB everywhere.
class SrgbNumbers {
 public:
  SrgbNumbers() {
    for (std::size_t i = 0; i <= kSteps; ++i) {
      const double light = static_cast<double>(i) / kSteps;
      const double number = light <= 0.0031308 ? 12.92 * light : 1.055 * power(light, 1 / 2.4) - 0.055;
      numbers_[i] = static_cast<std::uint8_t>(255 * number + 0.5);
    }
  }
  std::uint8_t of(float light) const {
    return numbers_[static_cast<std::size_t>(std::clamp(light, 0.0F, 1.0F) * kSteps + 0.5F)];
  }

 private:
  static constexpr std::size_t kSteps = 1 << 14;
  std::array<std::uint8_t, kSteps + 1> numbers_{};
};
const SrgbNumbers& srgb_numbers() {
  static const SrgbNumbers kNumbers;
  return kNumbers;
}

// Bytes of a profile; bytes past the end read as 0.
class Profile {
 public:
  explicit Profile(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint32_t number(std::size_t at, std::size_t count) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < count; ++i) out = out << 8 | (at + i < bytes_.size() ? bytes_[at + i] : 0U);
    return out;
  }
  // Number with 16 bits after the point.
  double fixed(std::size_t at) const { return static_cast<std::int32_t>(number(at, 4)) / 65536.0; }
  bool matches_at(std::string_view text, std::size_t at) const {
    return at + text.size() <= bytes_.size() &&
           std::equal(text.begin(), text.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char c, std::uint8_t byte) { return static_cast<std::uint8_t>(c) == byte; });
  }
  // Returns a tag's contents; nothing where it is absent or incomplete.
  std::optional<Profile> tag(std::string_view name) const {
    constexpr std::size_t kTags = 128, kMaxTags = 100;
    const std::size_t count = std::min<std::size_t>(number(kTags, 4), kMaxTags);
    for (std::size_t t = 0; t < count; ++t) {
      const std::size_t entry = kTags + 4 + 12 * t;
      if (!matches_at(name, entry)) continue;
      const std::size_t at = number(entry + 4, 4), size = number(entry + 8, 4);
      if (at > bytes_.size() || size > bytes_.size() - at) return std::nullopt;
      return Profile(bytes_.subspan(at, size));
    }
    return std::nullopt;
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

std::optional<std::vector<double>> sampled_curve(const Profile& curve) {
  constexpr std::size_t kHead = 12;
  const std::size_t count = curve.number(8, 4);
  if (count > (curve.size() - std::min(curve.size(), kHead)) / 2) return std::nullopt;
  std::vector<double> out(kLevels);
  for (std::size_t level = 0; level < kLevels; ++level) {
    const double x = static_cast<double>(level) / (kLevels - 1);
    if (count < 2) {
      out[level] = count == 0 ? x : power(x, curve.number(kHead, 2) / 256.0);
      continue;
    }
    const double place = x * static_cast<double>(count - 1);
    const std::size_t before = std::min(static_cast<std::size_t>(place), count - 2);
    const double low = curve.number(kHead + 2 * before, 2), high = curve.number(kHead + 2 * before + 2, 2);
    out[level] = (low + (place - static_cast<double>(before)) * (high - low)) / 65535;
  }
  return out;
}

std::optional<std::vector<double>> parametric_curve(const Profile& curve) {
  constexpr std::size_t kHead = 12;
  constexpr std::array<std::size_t, 5> kNumbers = {1, 3, 4, 5, 7};
  const std::size_t kind = curve.number(8, 2);
  if (kind >= kNumbers.size() || curve.size() < kHead + 4 * kNumbers[kind]) return std::nullopt;
  const auto given = [&](std::size_t i) { return i < kNumbers[kind] ? curve.fixed(kHead + 4 * i) : 0.0; };
  // The function is (a x + b)^g + e from `from` on, and c x + f below it.
  const double g = given(0), a = kind == 0 ? 1 : given(1), b = given(2);
  double c = given(3), e = given(5), f = given(6), from = given(4);
  if (kind < 3) {
    if (a == 0) return std::nullopt;
    e = f = kind == 2 ? given(3) : 0;
    c = 0;
    from = kind == 0 ? 0 : -b / a;
  }
  std::vector<double> out(kLevels);
  for (std::size_t level = 0; level < kLevels; ++level) {
    const double x = static_cast<double>(level) / (kLevels - 1);
    out[level] = x >= from ? power(a * x + b, g) + e : c * x + f;
  }
  return out;
}

std::optional<std::vector<double>> curve_of(const Profile& profile, std::string_view tag) {
  const auto curve = profile.tag(tag);
  if (curve && curve->matches_at("curv", 0)) return sampled_curve(*curve);
  if (curve && curve->matches_at("para", 0)) return parametric_curve(*curve);
  return std::nullopt;
}

// XYZ of white in the profile connection space (D50), whatever light a profile is for.
constexpr std::array<double, 3> kWhite = {0.9642, 1, 0.8249};

}  // namespace

// A well-known colour space, with its matrix adapted to D50 by Bradford's method.
struct SrgbConverter::Space {
  StandardColorSpace name;
  Matrix to_xyz;
  double gamma;  // 0: sRGB's curve
};

void SrgbConverter::set_matrix(const Matrix& to_xyz) {
  constexpr Matrix kFromXyz = {
      {{3.1338561, -1.6168667, -0.4906146}, {-0.9787684, 1.9161415, 0.0334540}, {0.0719453, -0.2289914, 1.4052427}}};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += kFromXyz[row][k] * to_xyz[k][column];
      matrix_[row][column] = static_cast<float>(sum);
    }
  }
}

std::optional<SrgbConverter> SrgbConverter::from_profile(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kSpaceAt = 16, kConnectionAt = 20;
  const Profile profile(bytes);
  const bool gray = profile.matches_at("GRAY", kSpaceAt);
  if ((!gray && !profile.matches_at("RGB ", kSpaceAt)) || !profile.matches_at("XYZ ", kConnectionAt))
    return std::nullopt;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTags = {
      {{"rXYZ", "rTRC"}, {"gXYZ", "gTRC"}, {"bXYZ", "bTRC"}}};
  SrgbConverter out;
  out.gray_ = gray;
  Matrix to_xyz{};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const auto curve = curve_of(profile, gray ? "kTRC" : kTags[channel].second);
    if (!curve) return std::nullopt;
    std::transform(curve->begin(), curve->end(), out.light_[channel].begin(),
                   [](double light) { return static_cast<float>(std::clamp(light, 0.0, 1.0)); });
    const auto colour = gray ? std::nullopt : profile.tag(kTags[channel].first);
    if (!gray && (!colour || !colour->matches_at("XYZ ", 0) || colour->size() < 20)) return std::nullopt;
    // The three channels of a gray picture are equal; each contributes a third of the light.
    for (std::size_t k = 0; k < 3; ++k) to_xyz[k][channel] = gray ? kWhite[k] / 3 : colour->fixed(8 + 4 * k);
  }
  out.set_matrix(to_xyz);
  return out;
}

std::array<std::uint8_t, 3> SrgbConverter::map(const std::uint8_t* rgb) const {
  const SrgbNumbers& numbers = srgb_numbers();
  const float r = light_[0][rgb[0]], g = light_[1][rgb[1]], b = light_[2][rgb[2]];
  std::array<std::uint8_t, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) out[c] = numbers.of(matrix_[c][0] * r + matrix_[c][1] * g + matrix_[c][2] * b);
  return out;
}

void SrgbConverter::apply(std::span<std::uint8_t> rgb) const {
  for (std::size_t at = 0; gray_ && at + 3 <= rgb.size(); at += 3) {
    if (rgb[at] != rgb[at + 1] || rgb[at] != rgb[at + 2]) return;
  }
  for (std::size_t at = 0; at + 3 <= rgb.size(); at += 3) {
    const auto mapped = map(rgb.data() + at);
    std::copy(mapped.begin(), mapped.end(), rgb.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

StandardColorSpace SrgbConverter::color_space() const {
  static const std::vector<std::pair<StandardColorSpace, SrgbConverter>> kStandardSpaces = [] {
    const std::array<Space, 4> spaces = {
        {{StandardColorSpace::srgb,
          {{{0.4360747, 0.3850649, 0.1430804}, {0.2225045, 0.7168786, 0.0606169}, {0.0139322, 0.0971045, 0.7141733}}},
          0},
         {StandardColorSpace::display_p3,
          {{{0.5151187, 0.2919778, 0.1571035}, {0.2411892, 0.6922441, 0.0665668}, {-0.0010505, 0.0418791, 0.7840713}}},
          0},
         {StandardColorSpace::adobe_rgb,
          {{{0.6097559, 0.2052401, 0.1492240}, {0.3111242, 0.6256560, 0.0632197}, {0.0194811, 0.0608902, 0.7448387}}},
          2.19921875},
         {StandardColorSpace::prophoto,
          {{{0.7976749, 0.1351917, 0.0313534}, {0.2880402, 0.7118741, 0.0000857}, {0, 0, 0.8252100}}},
          1.8}}};
    std::vector<std::pair<StandardColorSpace, SrgbConverter>> out;
    for (const Space& space : spaces) {
      SrgbConverter one;
      for (std::size_t level = 0; level < kLevels; ++level) {
        const double x = static_cast<double>(level) / (kLevels - 1);
        const auto light = static_cast<float>(space.gamma > 0 ? power(x, space.gamma) : srgb_light(x));
        for (Curve& curve : one.light_) curve[level] = light;
      }
      one.set_matrix(space.to_xyz);
      out.emplace_back(space.name, one);
    }
    return out;
  }();
  // Compares every mixture of nine levels per channel, from black to white.
  constexpr int kStep = 32, kNear = 2;
  const auto maps_like = [&](const SrgbConverter& other) {
    for (int i = 0; i < 9 * 9 * 9; ++i) {
      std::array<std::uint8_t, 3> rgb{};
      for (int c = 0, rest = i; c < 3; ++c, rest /= 9)
        rgb[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(std::min(255, rest % 9 * kStep));
      const auto a = map(rgb.data()), b = other.map(rgb.data());
      for (std::size_t c = 0; c < 3; ++c) {
        if (std::abs(a[c] - b[c]) > kNear) return false;
      }
    }
    return true;
  };
  for (const auto& [name, space] : kStandardSpaces) {
    if (maps_like(space)) return name;
  }
  return StandardColorSpace::none;
}

}  // namespace millrace
