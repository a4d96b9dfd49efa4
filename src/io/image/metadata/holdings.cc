#include "src/io/image/metadata/holdings.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

namespace millrace {
namespace {

// Hashes the pieces one after the other; 0 where one of them cannot be read.
std::uint64_t hash_of(std::span<const ByteRange> pieces) {
  constexpr std::uint64_t kAtOnce = 256 << 10;
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const ByteRange& piece : pieces) {
    for (std::uint64_t at = 0; at < piece.size(); at += kAtOnce) {
      const auto bytes = piece.read(at, std::min(kAtOnce, piece.size() - at));
      if (bytes.empty()) return 0;
      XXH3_64bits_update(state.get(), bytes.data(), bytes.size());
    }
  }
  return XXH3_64bits_digest(state.get());
}

// A profile is sRGB by its name: dozens of profiles mean sRGB, and nearly all are called so.
bool is_srgb(ByteRange profile) {
  constexpr std::uint64_t kTagsAt = 128, kMostTags = 100, kLongestName = 1024;
  const std::uint64_t tags = std::min(profile.number(kTagsAt, 4), kMostTags);
  for (std::uint64_t t = 0; t < tags; ++t) {
    const std::uint64_t tag = kTagsAt + 4 + 12 * t;
    if (!profile.starts_with("desc", tag)) continue;
    const ByteRange name = profile.part(profile.number(tag + 4, 4), profile.number(tag + 8, 4));
    // Letters take one byte or two.
    std::string letters;
    for (const std::uint8_t byte : name.first(kLongestName)) {
      if (byte != 0) letters += static_cast<char>(byte);
    }
    return letters.find("sRGB") != std::string::npos;
  }
  return false;
}

// PNG compresses its profile; the name before it, which programs choose, decides.
bool is_srgb(const MetadataParts& parts) {
  const ByteRange& first = parts.profile[0];
  if (parts.format == ImageFormat::png) return as_text(first.first(80)).find("sRGB") != std::string_view::npos;
  return is_srgb(first);
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
  if (parts.format == ImageFormat::heif && parts.sequence) out.push_back({HoldingKind::sequence, 0});
  if (!parts.profile.empty() && !is_srgb(parts)) out.push_back({HoldingKind::profile, hash_of(parts.profile)});
  return out;
}

}  // namespace millrace
