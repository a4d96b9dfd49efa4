#include "src/io/store/shard_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "src/io/file/positional_io.h"
#include "src/io/file/running_hash.h"

namespace millrace {
namespace {

// Range in which the next chunk is searched for. The library puts far fewer bytes between two chunks.
constexpr std::uint64_t kFarthest = 64 << 20;
constexpr std::size_t kLookedAt = 1 << 20;
// Record at the end of a log, before its hash.
struct Tail {
  std::uint64_t blocks_end, rows, chunks;
  ChunkFront front;
};

ChunkFront front_of(const std::uint8_t* chunk, std::size_t bytes) {
  ChunkFront out = 0;
  if (bytes > 0) std::memcpy(&out, chunk, std::min(bytes, sizeof out));
  return out;
}

std::optional<std::size_t> find_digest_array(const DatasetSpec& spec, ShardLog::Chunks chunks) {
  for (std::size_t i = 0; i < spec.arrays.size() && chunks == ShardLog::Chunks::digests_only; ++i) {
    if (spec.arrays[i].rows == ArraySpec::Rows::compressed) return i;
  }
  return std::nullopt;
}

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

struct ShardLog::Hash : RunningHash {};

ShardLog::ShardLog(std::string path, const std::string& owner, const DatasetSpec& spec, Chunks chunks)
    : file_(path, AtomicFile::ShardOptions{folder_of(path)}),
      hash_(std::make_unique<Hash>()),
      digest_array_(find_digest_array(spec, chunks)) {
  write(std::as_bytes(std::span(owner)));
  write(std::as_bytes(std::span("\n", 1)));
}
ShardLog::~ShardLog() = default;

void ShardLog::write(std::span<const std::byte> bytes) {
  hash_->update(bytes);
  file_.write(bytes);
  blocks_ += bytes.size();
}

void ShardLog::append(const RowBlock& block) {
  if (block.rows == 0) return;
  write(bytes_of(std::uint64_t{block.rows}));
  for (std::size_t i = 0; i < block.arrays.size(); ++i) {
    const ArrayRows& rows = block.arrays[i];
    if (digest_array_ == i) {
      rows.each([&](std::size_t, std::span<const std::uint8_t> chunk) {
        if (chunks_.empty()) front_ = front_of(chunk.data(), chunk.size());
        chunks_.push_back({chunk.size(), XXH3_64bits(chunk.data(), chunk.size())});
      });
      continue;
    }
    write(bytes_of(std::uint64_t{rows.lengths.size()}));
    write(bytes_of(std::uint64_t{rows.bytes.size()}));
    write(std::as_bytes(std::span(rows.lengths)));
    write(std::as_bytes(std::span(rows.bytes)));
  }
  rows_ += block.rows;
}

void ShardLog::finish() {
  const Tail tail{blocks_, rows_, chunks_.size(), front_};
  write(std::as_bytes(std::span(chunks_)));
  write(bytes_of(tail));
  file_.write(bytes_of(std::uint64_t{hash_->digest()}));
}

std::optional<ShardLogReader> ShardLogReader::open(const std::string& path, const std::string& owner,
                                                   const DatasetSpec& spec, ShardLog::Chunks chunks) {
  ShardLogReader out;
  out.path_ = path;
  out.digest_array_ = find_digest_array(spec, chunks);
  out.arrays_ = spec.arrays;
  out.file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  const auto state = state_of_descriptor(out.file_.get());
  Tail tail{};
  std::uint64_t hash = 0;
  const std::uint64_t begin = owner.size() + 1, behind = sizeof tail + sizeof hash;
  if (!state || !state->regular || state->size < begin + behind) return std::nullopt;
  const std::uint64_t hashed = state->size - sizeof hash;
  std::string front(begin, '\0');
  const auto read = [&](std::uint64_t at, std::span<std::byte> into) {
    return read_at(out.file_.get(), at, into) == into.size();
  };
  if (!read(0, std::as_writable_bytes(std::span(front))) || front != owner + "\n") return std::nullopt;
  ShardLog::Hash seen;
  std::vector<std::byte> piece(kLookedAt);
  for (std::uint64_t at = 0; at < hashed; at += piece.size()) {
    const auto part = std::span(piece).first(std::min<std::uint64_t>(piece.size(), hashed - at));
    if (!read(at, part)) return std::nullopt;
    seen.update(part);
  }
  if (!read(hashed, std::as_writable_bytes(std::span(&hash, 1))) || hash != seen.digest()) {
    return std::nullopt;
  }
  // The log is complete. Its owner line says that this program wrote it, but that is no reason to trust a number in it.
  if (!read(hashed - sizeof tail, std::as_writable_bytes(std::span(&tail, 1)))) return std::nullopt;
  const std::uint64_t chunk_bytes = tail.chunks * sizeof(LoggedChunk);
  if (tail.chunks > hashed / sizeof(LoggedChunk) || chunk_bytes > hashed - sizeof tail - begin ||
      tail.blocks_end != hashed - sizeof tail - chunk_bytes) {
    return std::nullopt;
  }
  out.at_ = begin;
  out.end_ = tail.blocks_end;
  out.rows_ = tail.rows;
  out.front_ = tail.front;
  out.chunks_.resize(tail.chunks);
  if (!read(out.end_, std::as_writable_bytes(std::span(out.chunks_)))) return std::nullopt;
  return out;
}

// The number of bytes is checked against the rest of the log before memory is allocated.
void ShardLogReader::read(std::vector<std::uint8_t>& out, std::uint64_t bytes) {
  if (bytes <= end_ - at_) {
    out.resize(bytes);
    if (read_at(file_.get(), at_, std::as_writable_bytes(std::span(out))) == bytes) {
      at_ += bytes;
      return;
    }
  }
  refuse();
}

void ShardLogReader::refuse() const {
  throw Failure(ErrorCode::conflict, "this file of a previous run was changed, or no run wrote it", path_,
                "remove it, and run the same command again");
}

std::uint64_t ShardLogReader::number() {
  std::uint64_t out = 0;
  read(scratch_, sizeof out);
  std::memcpy(&out, scratch_.data(), sizeof out);
  return out;
}

bool ShardLogReader::next(RowBlock& block) {
  block.clear(arrays_.size());
  if (at_ == end_) return false;
  block.rows = number();
  // Blocks without rows would never come to an end.
  if (block.rows == 0 || block.rows > rows_) refuse();
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (digest_array_ == i) continue;
    const std::uint64_t lengths = number(), bytes = number();
    read(scratch_, std::min(lengths, end_) * sizeof(std::uint32_t));
    block.arrays[i].lengths.resize(lengths);
    if (lengths > 0) std::memcpy(block.arrays[i].lengths.data(), scratch_.data(), scratch_.size());
    read(block.arrays[i].bytes, bytes);
    if (!has_expected_size(block.arrays[i], arrays_[i], block.rows)) refuse();
  }
  return true;
}

ChunkFinder::ChunkFinder(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (const auto state = state_of_descriptor(file_.get())) size_ = state->size;
}

bool ChunkFinder::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  return read_at(file_.get(), offset, std::as_writable_bytes(out)) == out.size();
}

bool ChunkFinder::is_at(std::uint64_t offset, const LoggedChunk& chunk) {
  // A log may state any size for a chunk.
  if (chunk.bytes > size_ || chunk.bytes > std::numeric_limits<std::uint32_t>::max()) return false;
  bytes_.resize(chunk.bytes);
  return read(offset, bytes_) && XXH3_64bits(bytes_.data(), bytes_.size()) == chunk.hash;
}

std::optional<std::uint64_t> ChunkFinder::next(std::uint64_t from, ChunkFront front, const LoggedChunk& chunk) {
  if (is_at(from, chunk)) return from;
  std::vector<std::uint8_t> window(kLookedAt);
  for (std::uint64_t at = from; at < from + kFarthest; at += kLookedAt - sizeof front) {
    const std::size_t there = read_at(file_.get(), at, std::as_writable_bytes(std::span(window)));
    if (there < sizeof front) return std::nullopt;
    for (std::size_t i = 0; i + sizeof front <= there; ++i) {
      if (front_of(window.data() + i, sizeof front) == front && is_at(at + i, chunk)) return at + i;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> ChunkFinder::find_from(std::uint64_t from, ChunkFront front,
                                                                 std::span<const LoggedChunk> chunks) {
  std::vector<std::uint64_t> out;
  for (const LoggedChunk& chunk : chunks) {
    const auto at = next(from, front, chunk);
    if (!at) return std::nullopt;
    out.push_back(*at);
    from = *at + chunk.bytes;
  }
  end_ = from;
  return out;
}

std::optional<std::vector<std::uint64_t>> ChunkFinder::find(ChunkFront front, std::span<const LoggedChunk> chunks) {
  if (!file_) return std::nullopt;
  auto out = find_from(end_, front, chunks);
  if (!out && end_ > 0) out = find_from(0, front, chunks);
  return out;
}

}  // namespace millrace
