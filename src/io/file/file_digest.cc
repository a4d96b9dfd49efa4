#include "src/io/file/file_digest.h"

#include <fcntl.h>

#include <span>
#include <vector>

#include "src/io/file/at_offset.h"
#include "src/io/file/place.h"
#include "src/io/file/running_hash.h"

namespace millrace {

std::optional<FileDigest> digest_of_file(int folder, const std::string& name, const std::function<void()>& go_on) {
  constexpr std::size_t kAtOnce = 1 << 18;
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto state = state_of_descriptor(file.get());
  if (!state || !state->regular) return std::nullopt;
  FileDigest out{name, state->size};
  RunningHash hash;
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < out.bytes; at += piece.size()) {
    if (go_on) go_on();
    piece.resize(std::min<std::uint64_t>(kAtOnce, out.bytes - at));
    if (read_at(file.get(), at, piece) != piece.size()) return std::nullopt;
    hash.update(piece);
  }
  out.hash = hash.digest();
  return out;
}

}  // namespace millrace
