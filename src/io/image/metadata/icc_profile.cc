#include "src/io/image/metadata/icc_profile.h"

#include <zlib.h>

#include <algorithm>

namespace millrace {
namespace {

// Unpacks a PNG's chunk: a name, a zero, a zero for zlib, the only method, and the compressed profile.
std::vector<std::uint8_t> unpack_profile(std::span<const std::uint8_t> chunk) {
  constexpr std::size_t kMaxProfileNameBytes = 80, kAtOnce = 64 << 10;
  const auto names = chunk.first(std::min(chunk.size(), kMaxProfileNameBytes));
  const auto end = static_cast<std::size_t>(std::find(names.begin(), names.end(), 0) - names.begin());
  if (end + 2 > chunk.size() || end == names.size() || chunk[end + 1] != 0) return {};
  const auto packed = chunk.subspan(end + 2);
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> out;
  int code = Z_OK;
  while (code == Z_OK && out.size() < kMaxProfileBytes) {
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

std::vector<std::uint8_t> read_icc_profile(const MetadataLocations& locations) {
  std::vector<std::uint8_t> out;
  for (const ByteRange& piece : locations.profile) {
    const auto bytes = piece.first(kMaxProfileBytes);
    if (bytes.size() != piece.size() || out.size() + bytes.size() > kMaxProfileBytes) return {};
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return locations.format == ImageFormat::png ? unpack_profile(out) : out;
}

}  // namespace millrace
