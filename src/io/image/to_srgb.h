// Input: an ICC profile that gives red, green and blue by a matrix and curves, or gray by a curve; numbers of a
// picture. Output: the numbers that sRGB has for the same colours; and by which well-known name the profile goes.
// Never: it reads tables of colours, as printers' profiles have them; takes longer for a hostile profile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace millrace {

enum class KnownColours : std::uint8_t { none, srgb, display_p3, adobe_rgb, prophoto };

class ToSrgb {
 public:
  // Returns nothing for a profile of another kind, or a broken one.
  static std::optional<ToSrgb> from_profile(std::span<const std::uint8_t> profile);

  // Names what it maps like, within two levels of 255: dozens of profiles mean the same.
  KnownColours known() const;
  // Converts red, green, blue, red, and so on. Colours that sRGB has not are cut. A profile of gray says nothing of
  // numbers that are not gray: they stay as they are, all of them.
  void apply(std::span<std::uint8_t> rgb) const;

 private:
  using Curve = std::array<float, 256>;  // of each number, how much light it means
  using Matrix = std::array<std::array<double, 3>, 3>;
  struct Space;

  ToSrgb() = default;
  bool gray_ = false;
  // `to_xyz` is relative to D50, as profiles have it.
  void set_matrix(const Matrix& to_xyz);
  std::array<std::uint8_t, 3> map(const std::uint8_t* rgb) const;

  std::array<Curve, 3> light_{};
  std::array<std::array<float, 3>, 3> matrix_{};  // to linear sRGB
};

}  // namespace millrace
