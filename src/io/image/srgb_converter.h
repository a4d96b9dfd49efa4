// Input: an ICC profile that defines red, green and blue by a matrix and curves, or gray by a curve; pixels in that
// profile.
// Output: the sRGB numbers of the same colours; and the well-known colour space that the profile equals, if any.
// Never: reads lookup tables, as in printers' profiles; takes longer for a hostile profile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace millrace {

enum class StandardColorSpace : std::uint8_t { none, srgb, display_p3, adobe_rgb, prophoto };

class SrgbConverter {
 public:
  // Returns nothing for a profile of another kind, or a broken one.
  static std::optional<SrgbConverter> from_profile(std::span<const std::uint8_t> profile);

  // Returns the colour space that it maps like, within two levels of 255: dozens of profiles describe the same one.
  StandardColorSpace color_space() const;
  // Converts RGB pixels in place. Colours outside sRGB are clipped. A gray profile does not define pixels that are not
  // gray: if there is one, all pixels are left unchanged.
  void apply(std::span<std::uint8_t> rgb) const;

 private:
  using Curve = std::array<float, 256>;  // light, 0 to 1, of each number
  using Matrix = std::array<std::array<double, 3>, 3>;
  struct Space;

  SrgbConverter() = default;
  bool gray_ = false;
  // `to_xyz` is relative to D50, as in profiles.
  void set_matrix(const Matrix& to_xyz);
  std::array<std::uint8_t, 3> map(const std::uint8_t* rgb) const;

  std::array<Curve, 3> light_{};
  std::array<std::array<float, 3>, 3> matrix_{};  // to linear sRGB
};

}  // namespace millrace
