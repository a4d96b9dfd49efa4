#include "src/io/image/metadata/extra_data_search.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "src/io/file/file_reader.h"
#include "src/io/file/running_hash.h"
#include "src/io/image/metadata/icc_profile.h"
#include "src/io/image/srgb_converter.h"

namespace millrace {
namespace {

// Hashes the ranges one after the other; 0 where one of them cannot be read.
std::uint64_t hash_of(std::span<const ByteRange> pieces) {
  constexpr std::uint64_t kAtOnce = 256 << 10;
  RunningHash hash;
  for (const ByteRange& piece : pieces) {
    for (std::uint64_t at = 0; at < piece.size(); at += kAtOnce) {
      const auto bytes = piece.read(at, std::min(kAtOnce, piece.size() - at));
      if (bytes.empty()) return 0;
      hash.update(std::as_bytes(bytes));
    }
  }
  return hash.digest();
}

// True where the profile's name contains sRGB, as in most sRGB profiles.
bool is_srgb_profile(std::span<const std::uint8_t> profile) {
  ByteSource source(profile);
  const ByteRange bytes(source);
  constexpr std::uint64_t kTagsAt = 128, kMaxTags = 100, kMaxProfileNameBytes = 1024;
  const std::uint64_t tags = std::min(bytes.number(kTagsAt, 4), kMaxTags);
  for (std::uint64_t t = 0; t < tags; ++t) {
    const std::uint64_t tag = kTagsAt + 4 + 12 * t;
    if (!bytes.starts_with("desc", tag)) continue;
    const ByteRange name = bytes.part(bytes.number(tag + 4, 4), bytes.number(tag + 8, 4));
    // The name has one byte per letter, or two.
    std::string letters;
    for (const std::uint8_t byte : name.first(kMaxProfileNameBytes)) {
      if (byte != 0) letters += static_cast<char>(byte);
    }
    return letters.find("sRGB") != std::string::npos;
  }
  return false;
}

// Returns nothing for sRGB. Dozens of profiles describe the same well-known colour space; they get one hash.
std::optional<ExtraData> find_color_profile(const MetadataLocations& locations) {
  if (locations.profile.empty()) return std::nullopt;
  const std::vector<std::uint8_t> profile = read_icc_profile(locations);
  const auto to_srgb = SrgbConverter::from_profile(profile);
  const StandardColorSpace color_space = to_srgb ? to_srgb->color_space() : StandardColorSpace::none;
  if (color_space == StandardColorSpace::srgb || (!to_srgb && is_srgb_profile(profile))) return std::nullopt;
  if (color_space != StandardColorSpace::none)
    return ExtraData{ExtraDataKind::profile, static_cast<std::uint64_t>(color_space)};
  return ExtraData{ExtraDataKind::profile, profile.empty() ? 0 : short_hash(profile)};
}

bool is_motion_photo(const MetadataLocations& locations) {
  if (!locations.xmp) return false;
  const std::string_view text = as_text(locations.xmp->first(kMaxXmp));
  return text.find("MotionPhoto") != std::string_view::npos || text.find("MicroVideo") != std::string_view::npos;
}

}  // namespace

std::vector<ExtraData> find_extra_data(ByteRange file, const MetadataLocations& locations) {
  std::vector<ExtraData> out;
  if (locations.format == ImageFormat::jpeg) {
    JpegHead head = locations.jpeg;
    head.is_motion_photo = is_motion_photo(locations);
    for (const AppendedData& more : find_appended_data(file, head))
      out.push_back({more.what, hash_of({&more.bytes, 1})});
  }
  for (const ByteRange& video : locations.videos) {
    const ByteRange bytes = file.part(video.offset(), video.size());
    out.push_back({ExtraDataKind::video, hash_of({&bytes, 1})});
  }
  for (const std::vector<ByteRange>& picture : locations.pictures) {
    std::vector<ByteRange> pieces;
    for (const ByteRange& piece : picture) pieces.push_back(file.part(piece.offset(), piece.size()));
    out.push_back({ExtraDataKind::picture, pieces.empty() ? 0 : hash_of(pieces)});
  }
  if (locations.format == ImageFormat::heif && locations.sequence) out.push_back({ExtraDataKind::sequence, 0});
  if (const auto colours = find_color_profile(locations)) out.push_back(*colours);
  return out;
}

}  // namespace millrace
