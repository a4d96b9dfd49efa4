#include "src/io/image/srgb_converter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "src/io/image/metadata/metadata_for_test.h"

namespace millrace {
namespace {

using namespace std::string_literals;

using Matrix = std::array<std::array<double, 3>, 3>;
constexpr Matrix kSrgb = {{{0.43607, 0.38515, 0.14307}, {0.22249, 0.71687, 0.06061}, {0.01392, 0.09708, 0.71410}}};
constexpr Matrix kAdobe = {{{0.60976, 0.20524, 0.14922}, {0.31112, 0.62566, 0.06322}, {0.01948, 0.06089, 0.74484}}};
constexpr Matrix kP3 = {{{0.51512, 0.29198, 0.15710}, {0.24119, 0.69225, 0.06657}, {-0.00105, 0.04189, 0.78407}}};

std::string fixed(double value) {
  return number_bytes(static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(value * 65536))), 4);
}
std::string gamma_curve(double gamma) {
  return "curv"s + std::string(4, '\0') + number_bytes(1, 4) +
         number_bytes(static_cast<std::uint64_t>(std::lround(gamma * 256)), 2) + std::string(2, '\0');
}
std::string sampled(const std::vector<int>& samples) {
  std::string out = "curv"s + std::string(4, '\0') + number_bytes(samples.size(), 4);
  for (const int sample : samples) out += number_bytes(static_cast<std::uint64_t>(sample), 2);
  return out;
}
std::string parametric(int kind, const std::vector<double>& numbers) {
  std::string out = "para"s + std::string(4, '\0') + number_bytes(static_cast<std::uint64_t>(kind), 2) + "\0\0"s;
  for (const double number : numbers) out += fixed(number);
  return out;
}
const std::string kSrgbCurve = parametric(3, {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045});

std::string with_tags(const std::string& space, const std::vector<std::pair<std::string, std::string>>& tags) {
  std::string table, contents;
  for (const auto& [name, content] : tags) {
    table += name + number_bytes(132 + 12 * tags.size() + contents.size(), 4) + number_bytes(content.size(), 4);
    contents += content;
  }
  return std::string(16, '\0') + space + "XYZ " + std::string(104, '\0') + number_bytes(tags.size(), 4) + table +
         contents;
}
std::string rgb_profile(const Matrix& matrix, const std::string& curve) {
  std::vector<std::pair<std::string, std::string>> tags;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::string channel(1, "rgb"[c]);
    tags.emplace_back(channel + "XYZ",
                      "XYZ "s + std::string(4, '\0') + fixed(matrix[0][c]) + fixed(matrix[1][c]) + fixed(matrix[2][c]));
    tags.emplace_back(channel + "TRC", curve);
  }
  return with_tags("RGB ", tags);
}

std::optional<SrgbConverter> from(const std::string& profile) {
  return SrgbConverter::from_profile({reinterpret_cast<const std::uint8_t*>(profile.data()), profile.size()});
}
StandardColorSpace color_space(const std::string& profile) {
  const auto to_srgb = from(profile);
  return to_srgb ? to_srgb->color_space() : StandardColorSpace::none;
}
using Numbers = std::vector<std::uint8_t>;
Numbers applied(const std::string& profile, Numbers rgb) {
  from(profile)->apply(rgb);
  return rgb;
}

TEST(SrgbConverter, KnowsWhatManyProfilesMean) {
  EXPECT_EQ(color_space(rgb_profile(kSrgb, kSrgbCurve)), StandardColorSpace::srgb);
  EXPECT_EQ(color_space(rgb_profile(kAdobe, gamma_curve(2.2))), StandardColorSpace::adobe_rgb);
  EXPECT_EQ(color_space(rgb_profile(kP3, kSrgbCurve)), StandardColorSpace::display_p3);
  EXPECT_EQ(color_space(rgb_profile(kP3, gamma_curve(2.6))), StandardColorSpace::none) << "a cinema's";
  EXPECT_EQ(color_space(rgb_profile(kSrgb, gamma_curve(1.8))), StandardColorSpace::none);
  Matrix swapped = kSrgb;
  for (auto& row : swapped) std::swap(row[0], row[2]);
  EXPECT_EQ(color_space(rgb_profile(swapped, kSrgbCurve)), StandardColorSpace::none);
}

// Expected values are from LittleCMS 2.14, relative colorimetric, 16 bits, rounded.
TEST(SrgbConverter, MapsAsOthersDo) {
  EXPECT_EQ(
      applied(rgb_profile(kAdobe, gamma_curve(2.19921875)), {0, 0, 0, 255, 255, 255, 128, 128, 128, 150, 100, 50}),
      (Numbers{0, 0, 0, 255, 255, 255, 129, 129, 129, 167, 100, 42}));
  EXPECT_EQ(applied(rgb_profile(kP3, kSrgbCurve), {200, 100, 50, 255, 0, 0, 40, 90, 200}),
            (Numbers{215, 93, 31, 255, 0, 0, 10, 91, 207}));
  EXPECT_EQ(applied(rgb_profile(kSrgb, kSrgbCurve), {1, 2, 3, 40, 90, 200}), (Numbers{1, 2, 3, 40, 90, 200}));
}

TEST(SrgbConverter, EveryFormOfCurve) {
  const Numbers gray = {0, 0, 0, 64, 64, 64, 128, 128, 128, 255, 255, 255};
  const Numbers linear = {0, 0, 0, 137, 137, 137, 188, 188, 188, 255, 255, 255};
  for (const std::string& curve :
       {sampled({}), sampled({0, 65535}), parametric(0, {1}), parametric(1, {1, 1, 0}), parametric(2, {1, 1, 0, 0}),
        parametric(3, {1, 1, 0, 1, 0.5}), parametric(4, {1, 1, 0, 1, 0.5, 0, 0}), gamma_curve(1)})
    EXPECT_EQ(applied(rgb_profile(kSrgb, curve), gray), linear);
  const std::string of_gray = with_tags("GRAY", {{"kTRC", gamma_curve(1)}});
  EXPECT_EQ(applied(of_gray, gray), linear);
  EXPECT_EQ(applied(of_gray, {64, 64, 64, 90, 90, 200}), (Numbers{64, 64, 64, 90, 90, 200})) << "not a gray picture";
}

TEST(SrgbConverter, OthersAndBrokenOnesAreNone) {
  const std::string good = rgb_profile(kSrgb, kSrgbCurve);
  EXPECT_FALSE(from("")) << "nothing";
  std::string cmyk = good;
  cmyk.replace(16, 4, "CMYK");
  EXPECT_FALSE(from(cmyk));
  std::string lab = good;
  lab.replace(20, 4, "Lab ");
  EXPECT_FALSE(from(lab)) << "of tables";
  for (std::size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(from(good.substr(0, cut))) << cut;
  EXPECT_FALSE(from(rgb_profile(kSrgb, parametric(5, {1, 1, 1, 1, 1, 1, 1})))) << "a form that there is not";
  EXPECT_FALSE(from(rgb_profile(kSrgb, parametric(1, {1, 0, 0})))) << "a division by zero";
  EXPECT_FALSE(from(rgb_profile(kSrgb, "curv"s + std::string(4, '\0') + "\xFF\xFF\xFF\xFF")));
}

}  // namespace
}  // namespace millrace
