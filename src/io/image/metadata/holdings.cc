#include "src/io/image/metadata/holdings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "src/io/file/reader.h"
#include "src/io/file/running_hash.h"
#include "src/io/image/metadata/profile.h"
#include "src/io/image/to_srgb.h"

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
bool says_srgb(std::span<const std::uint8_t> profile) {
  ByteSource source(profile);
  const ByteRange bytes(source);
  constexpr std::uint64_t kTagsAt = 128, kMostTags = 100, kLongestName = 1024;
  const std::uint64_t tags = std::min(bytes.number(kTagsAt, 4), kMostTags);
  for (std::uint64_t t = 0; t < tags; ++t) {
    const std::uint64_t tag = kTagsAt + 4 + 12 * t;
    if (!bytes.starts_with("desc", tag)) continue;
    const ByteRange name = bytes.part(bytes.number(tag + 4, 4), bytes.number(tag + 8, 4));
    // The name has one byte per letter, or two.
    std::string letters;
    for (const std::uint8_t byte : name.first(kLongestName)) {
      if (byte != 0) letters += static_cast<char>(byte);
    }
    return letters.find("sRGB") != std::string::npos;
  }
  return false;
}

// Returns nothing for sRGB. Dozens of profiles describe the same well-known colour space; they get one hash.
std::optional<Holding> colours_of(const MetadataParts& parts) {
  if (parts.profile.empty()) return std::nullopt;
  const std::vector<std::uint8_t> profile = profile_in(parts);
  const auto to_srgb = ToSrgb::from_profile(profile);
  const KnownColours known = to_srgb ? to_srgb->known() : KnownColours::none;
  if (known == KnownColours::srgb || (!to_srgb && says_srgb(profile))) return std::nullopt;
  if (known != KnownColours::none) return Holding{HoldingKind::profile, static_cast<std::uint64_t>(known)};
  return Holding{HoldingKind::profile, profile.empty() ? 0 : short_hash(profile)};
}

bool says_film(const MetadataParts& parts) {
  if (!parts.xmp) return false;
  const std::string_view text = as_text(parts.xmp->first(kMaxXmp));
  return text.find("MotionPhoto") != std::string_view::npos || text.find("MicroVideo") != std::string_view::npos;
}

}  // namespace

std::vector<Holding> holdings_in(ByteRange file, const MetadataParts& parts) {
  std::vector<Holding> out;
  if (parts.format == ImageFormat::jpeg) {
    JpegHead head = parts.jpeg;
    head.says_film = says_film(parts);
    for (const Appended& more : appended_to_jpeg(file, head)) out.push_back({more.what, hash_of({&more.bytes, 1})});
  }
  for (const ByteRange& film : parts.films) {
    const ByteRange bytes = file.part(film.offset(), film.size());
    out.push_back({HoldingKind::film, hash_of({&bytes, 1})});
  }
  for (const std::vector<ByteRange>& picture : parts.pictures) {
    std::vector<ByteRange> pieces;
    for (const ByteRange& piece : picture) pieces.push_back(file.part(piece.offset(), piece.size()));
    out.push_back({HoldingKind::picture, pieces.empty() ? 0 : hash_of(pieces)});
  }
  if (parts.format == ImageFormat::heif && parts.sequence) out.push_back({HoldingKind::sequence, 0});
  if (const auto colours = colours_of(parts)) out.push_back(*colours);
  return out;
}

}  // namespace millrace
