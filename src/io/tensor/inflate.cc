#include "src/io/tensor/inflate.h"

#include <libdeflate.h>

#include <algorithm>
#include <limits>

namespace millrace {
namespace {

constexpr std::size_t kInput = 16 << 10;

[[noreturn]] void damaged() { throw_bad_data("its compressed data is damaged"); }
[[noreturn]] void cut() { throw_bad_data("the file is truncated: its compressed data does not end"); }

}  // namespace

std::uint64_t max_inflated_bytes(std::uint64_t deflated) {
  constexpr std::uint64_t kRatio = 1032;
  return deflated > std::numeric_limits<std::uint64_t>::max() / kRatio ? std::numeric_limits<std::uint64_t>::max()
                                                                       : deflated * kRatio;
}

InflateStream::InflateStream(RandomAccessSource& from, std::uint64_t offset, std::uint64_t bytes, Wrapping wrapping)
    : from_(from), at_(offset), left_(bytes), wrapping_(wrapping) {
  // Window bits: negative for no header, 16 more for that of gzip.
  if (inflateInit2(&stream_, wrapping == Wrapping::none ? -MAX_WBITS : MAX_WBITS + 16) != Z_OK) {
    throw_no_memory(std::size_t{1} << MAX_WBITS);
  }
}

InflateStream::~InflateStream() { inflateEnd(&stream_); }

void InflateStream::fill() {
  in_.resize(kInput);
  const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kInput, left_));
  from_.read(at_, {in_.data(), part});
  at_ += part;
  left_ -= part;
  stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
  stream_.avail_in = static_cast<uInt>(part);
}

// Skips zeros after the end of a stream. Returns true if another stream begins.
bool InflateStream::another_begins() {
  if (wrapping_ == Wrapping::none) return false;
  while (true) {
    for (; stream_.avail_in > 0; ++stream_.next_in, --stream_.avail_in) {
      if (*stream_.next_in != 0) return true;
    }
    if (left_ == 0) return false;
    fill();
  }
}

std::size_t InflateStream::read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size() && !ended_) {
    if (stream_.avail_in == 0 && left_ > 0) fill();
    const std::size_t room = std::min<std::size_t>(out.size() - done, std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream_.avail_out = static_cast<uInt>(room);
    const bool fed = stream_.avail_in > 0;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (result == Z_STREAM_END) {
      if (another_begins()) {
        if (inflateReset(&stream_) != Z_OK) damaged();
      } else {
        ended_ = true;
      }
    } else if (result == Z_BUF_ERROR && !fed && left_ == 0) {
      cut();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      damaged();
    }
  }
  return done;
}

bool GzipSource::advance() {
  if (stream_ == nullptr) {
    stream_ = std::make_unique<InflateStream>(file_, 0, file_bytes_, InflateStream::Wrapping::gzip);
    window_.resize(2 * kChunk);
    window_at_ = window_size_ = 0;
  }
  const std::size_t dropped = window_size_ > kChunk ? window_size_ - kChunk : 0;
  if (dropped > 0) {
    std::memmove(window_.data(), window_.data() + dropped, kChunk);
    window_at_ += dropped;
    window_size_ = kChunk;
  }
  const std::size_t got = stream_->read({window_.data() + window_size_, kChunk});
  window_size_ += got;
  return got > 0;
}

std::uint64_t GzipSource::size() {
  if (!size_) {
    while (advance()) {
    }
    size_ = window_at_ + window_size_;
  }
  return *size_;
}

void GzipSource::read(std::uint64_t offset, std::span<std::byte> out) {
  if (offset < window_at_) {
    stream_.reset();
    window_at_ = window_size_ = 0;
  }
  while (!out.empty()) {
    if (offset >= window_at_ && offset - window_at_ < window_size_) {
      const auto skipped = static_cast<std::size_t>(offset - window_at_);
      const std::size_t part = std::min(out.size(), window_size_ - skipped);
      std::memcpy(out.data(), window_.data() + skipped, part);
      out = out.subspan(part);
      offset += part;
    } else if (!advance()) {
      throw_bad_data("the file is truncated");
    }
  }
}

Inflater::Inflater() : state_(libdeflate_alloc_decompressor()) {
  if (state_ == nullptr) throw_no_memory(std::size_t{1} << MAX_WBITS);
}

Inflater::~Inflater() { libdeflate_free_decompressor(state_); }

void Inflater::raw(std::span<const std::byte> deflated, std::span<std::byte> out) {
  std::size_t taken = 0, given = 0;
  const auto result = libdeflate_deflate_decompress_ex(state_, deflated.data(), deflated.size(), out.data(), out.size(),
                                                       &taken, &given);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE) throw_bad_data("its decompressed data is larger than the file states");
  if (result != LIBDEFLATE_SUCCESS) damaged();
  if (given < out.size()) throw_bad_data("its decompressed data is smaller than the file states");
  if (taken < deflated.size()) throw_bad_data("its compressed data ends too early");
}

void Inflater::gzip(std::span<const std::byte> gzipped, std::span<std::byte> out) {
  do {
    std::size_t taken = 0, given = 0;
    const auto result =
        libdeflate_gzip_decompress_ex(state_, gzipped.data(), gzipped.size(), out.data(), out.size(), &taken, &given);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) throw_bad_data("its decompressed data is larger than the file states");
    if (result != LIBDEFLATE_SUCCESS) damaged();
    gzipped = gzipped.subspan(taken);
    out = out.subspan(given);
    while (!gzipped.empty() && gzipped.front() == std::byte{0}) gzipped = gzipped.subspan(1);
  } while (!gzipped.empty());
  if (!out.empty()) throw_bad_data("its decompressed data is smaller than the file states");
}

std::uint32_t crc32_of(std::uint32_t before, std::span<const std::byte> bytes) {
  return libdeflate_crc32(before, bytes.data(), bytes.size());
}

}  // namespace millrace
