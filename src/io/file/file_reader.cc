#include "src/io/file/file_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "src/base/text.h"
#include "src/io/file/xxh3.h"

namespace millrace {
namespace {
constexpr std::size_t kMinChunk = 4096;
// O_NONBLOCK: a named pipe in a folder of photographs must not hang the run.
constexpr int kHow = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
}  // namespace

std::optional<ContentHash> content_hash_from_hex(std::string_view text) {
  ContentHash hash{};
  if (text.size() != hash.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [end, problem] = std::from_chars(digits, digits + 2, hash[i], 16);
    if (problem != std::errc() || end != digits + 2) return std::nullopt;
  }
  return hash;
}

namespace {

ContentHash canonical(XXH128_hash_t value) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, value);
  ContentHash hash;
  std::memcpy(hash.data(), bytes.digest, hash.size());
  return hash;
}

}  // namespace

struct FileReader::HashState {
  HashState() : state(XXH3_createState()) { XXH3_128bits_reset(state); }
  ~HashState() { XXH3_freeState(state); }
  XXH3_state_t* state;
};

Outcome<std::unique_ptr<FileReader>> FileReader::open(const std::string& path, Hashing hashing, LinkPolicy links) {
  if (links == LinkPolicy::refused) {
    const auto entry = DirectoryEntry::make(path);
    if (!entry) return entry.error();
    auto file = entry->open();
    if (!file) return file.error();
    return make(std::move(file).value(), path, hashing);
  }
  Descriptor file(::open(path.c_str(), kHow));
  if (!file) return system_error("cannot be opened", escape_unprintable(path), errno);
  return make(std::move(file), path, hashing);
}

Outcome<std::unique_ptr<FileReader>> FileReader::make(Descriptor file, const std::string& path, Hashing hashing) {
  const auto state = state_of_descriptor(file.get());
  if (!state) return system_error("cannot be examined", escape_unprintable(path), errno);
  if (!state->regular) return Error{ErrorCode::unsupported, "not a regular file", escape_unprintable(path), ""};
  std::unique_ptr<FileReader> reader(new FileReader(path, std::move(file), hashing));
  reader->size_ = state->size;
  reader->mtime_ns_ = state->mtime_ns;
  // A small file gets a small chunk, with one byte more than its size to see the end. Of thousands of files, each
  // leaves something in memory. Large chunks in between would leave holes in memory that nothing fills.
  reader->chunk_.resize(std::clamp<std::uint64_t>(state->size + 1, kMinChunk, kChunk));
  posix_fadvise(reader->descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return reader;
}

FileReader::FileReader(std::string path, Descriptor file, Hashing hashing)
    : path_(std::move(path)),
      fd_(std::move(file)),
      hash_(hashing == Hashing::on ? std::make_unique<HashState>() : nullptr) {}

FileReader::~FileReader() = default;

Outcome<Descriptor> FileReader::reopen() const {
  Descriptor out(::open(fmt::format("/proc/self/fd/{}", descriptor()).c_str(), kHow));
  if (out) return out;
  const int reason = errno;
  // Without /proc the file is opened by its name, if the name still leads to the same file.
  const auto mine = state_of_descriptor(descriptor());
  out = Descriptor(::open(path_.c_str(), kHow));
  const auto found = out ? state_of_descriptor(out.get()) : std::nullopt;
  if (mine && found && found->same(*mine)) return out;
  return system_error("cannot be opened", escape_unprintable(path_), reason);
}

Error FileReader::error() const {
  if (error_number_ == ECANCELED) return interrupted("it was read only in part", escape_unprintable(path_));
  return system_error("cannot be read", escape_unprintable(path_), error_number_);
}

std::size_t FileReader::fill() {
  if (cancelled_ && cancelled_()) {
    error_number_ = ECANCELED;
    return 0;
  }
  std::size_t got = 0;
  while (got < chunk_.size()) {
    const ssize_t n = ::read(fd_.get(), chunk_.data() + got, chunk_.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error_number_ = errno;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  read_ += got;
  if (hash_) XXH3_128bits_update(hash_->state, chunk_.data(), got);
  return got;
}

std::span<const std::uint8_t> FileReader::next() {
  if (!peeked_) chunk_size_ = failed() ? 0 : fill();
  peeked_ = false;
  return {chunk_.data(), chunk_size_};
}

std::span<const std::uint8_t> FileReader::peek() {
  if (!peeked_) {
    chunk_size_ = failed() ? 0 : fill();
    peeked_ = true;
  }
  return {chunk_.data(), chunk_size_};
}

Outcome<ContentHash> FileReader::finish_hash() {
  assert(hash_);
  peeked_ = false;
  while (!failed() && fill() > 0) {
  }
  if (failed()) return error();
  return canonical(XXH3_128bits_digest(hash_->state));
}

ContentHash content_hash(std::string_view bytes) { return canonical(XXH3_128bits(bytes.data(), bytes.size())); }

std::uint64_t short_hash(std::span<const std::uint8_t> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Outcome<ContentHash> hash_file(const std::string& path, LinkPolicy links, const std::function<bool()>& cancelled) {
  auto reader = FileReader::open(path, FileReader::Hashing::on, links);
  if (!reader) return reader.error();
  (*reader)->set_cancelled(cancelled);
  return (*reader)->finish_hash();
}

Outcome<std::string> read_text(FileReader& file, std::uint64_t most) {
  std::string text;
  for (auto bytes = file.next(); !bytes.empty() && text.size() <= most; bytes = file.next()) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (file.failed()) return file.error();
  return text;
}

Outcome<std::string> read_text(const std::string& path, std::uint64_t most) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  return read_text(**file, most);
}

Outcome<bool> have_same_contents(FileReader& first, FileReader& second) {
  if (first.size() != second.size()) return false;
  while (true) {
    const auto x = first.next();
    const auto y = second.next();
    if (first.failed()) return first.error();
    if (second.failed()) return second.error();
    if (x.size() != y.size() || !std::equal(x.begin(), x.end(), y.begin())) return false;
    if (x.empty()) return true;
  }
}

Outcome<bool> have_same_contents(const std::string& a, const std::string& b, LinkPolicy links,
                                 const std::function<bool()>& cancelled) {
  auto first = FileReader::open(a, FileReader::Hashing::off, links);
  if (!first) return first.error();
  auto second = FileReader::open(b, FileReader::Hashing::off, links);
  if (!second) return second.error();
  (*first)->set_cancelled(cancelled);
  return have_same_contents(**first, **second);
}

}  // namespace millrace
