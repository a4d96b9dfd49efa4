#include "src/io/file/file_digest.h"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "src/io/file/directory_entry.h"
#include "src/io/file/positional_io.h"

namespace millrace {

bool hash_prefix(int file, std::uint64_t bytes, RunningHash& hash, const std::function<void()>& check_cancelled) {
  constexpr std::size_t kAtOnce = 1 << 18;
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    if (check_cancelled) check_cancelled();
    piece.resize(std::min<std::uint64_t>(kAtOnce, bytes - at));
    if (read_at(file, at, piece) != piece.size()) return false;
    hash.update(piece);
  }
  return true;
}

std::optional<FileDigest> digest_of_file(int folder, const std::string& name,
                                         const std::function<void()>& check_cancelled) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto state = state_of_descriptor(file.get());
  if (!state || !state->regular) return std::nullopt;
  FileDigest out{name, state->size};
  RunningHash hash;
  if (!hash_prefix(file.get(), out.bytes, hash, check_cancelled)) return std::nullopt;
  out.hash = hash.digest();
  return out;
}

}  // namespace millrace
