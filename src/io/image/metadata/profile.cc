#include "src/io/image/metadata/profile.h"

#include <zlib.h>

#include <algorithm>

namespace millrace {
namespace {

// Unpacks a PNG's chunk: a name, a zero, a zero for zlib, the only method, and the compressed profile.
std::vector<std::uint8_t> unpacked(std::span<const std::uint8_t> chunk) {
  constexpr std::size_t kLongestName = 80, kAtOnce = 64 << 10;
  const auto names = chunk.first(std::min(chunk.size(), kLongestName));
  const auto end = static_cast<std::size_t>(std::find(names.begin(), names.end(), 0) - names.begin());
  if (end + 2 > chunk.size() || end == names.size() || chunk[end + 1] != 0) return {};
  const auto packed = chunk.subspan(end + 2);
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> out;
  int code = Z_OK;
  while (code == Z_OK && out.size() < kMostProfile) {
    const std::size_t before = out.size();
    out.resize(before + kAtOnce);
    stream.next_out = out.data() + before;
    stream.avail_out = kAtOnce;
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return code == Z_STREAM_END ? out : std::vector<std::uint8_t>();
}

}  // namespace

std::vector<std::uint8_t> profile_in(const MetadataParts& parts) {
  std::vector<std::uint8_t> out;
  for (const ByteRange& piece : parts.profile) {
    const auto bytes = piece.first(kMostProfile);
    if (bytes.size() != piece.size() || out.size() + bytes.size() > kMostProfile) return {};
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return parts.format == ImageFormat::png ? unpacked(out) : out;
}

}  // namespace millrace
