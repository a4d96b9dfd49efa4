#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "src/base/error.h"
#include "src/kernels/dct/dct.h"
#include "src/kernels/haar/haar.h"
#include "src/kernels/hash/colorhash.h"
#include "src/kernels/hash/hash.h"
#include "src/kernels/hash/hash_steps.h"
#include "src/kernels/hash_quality/hash_quality.h"
#include "src/kernels/luma/luma.h"
#include "src/kernels/pdq/pdq.h"
#include "src/kernels/resize/resize.h"
#include "src/memory/buffer.h"

namespace millrace {
int whash_side(int width, int height, int size) {
  int side = 1;
  while (side * 2 <= std::min(width, height)) side *= 2;
  return std::max(side, size);
}

std::optional<ResizeTarget> target_of(HashKind kind, int size, int width, int height) {
  switch (kind) {
    case HashKind::ahash:
      return ResizeTarget{size, size};
    case HashKind::dhash:
      return ResizeTarget{size + 1, size};
    case HashKind::dhash_vertical:
      return ResizeTarget{size, size + 1};
    case HashKind::phash:
      return ResizeTarget{4 * size, 4 * size};
    case HashKind::whash: {
      const int side = whash_side(width, height, size);
      return ResizeTarget{side, side};
    }
    case HashKind::colorhash:
    case HashKind::pdq:
      return std::nullopt;
  }
  return std::nullopt;
}

const char* name_of(HashKind kind) {
  switch (kind) {
    case HashKind::ahash:
      return "ahash";
    case HashKind::dhash:
      return "dhash";
    case HashKind::dhash_vertical:
      return "dhash_vertical";
    case HashKind::phash:
      return "phash";
    case HashKind::whash:
      return "whash";
    case HashKind::colorhash:
      return "colorhash";
    case HashKind::pdq:
      return "pdq";
  }
  return "ahash";
}

std::optional<HashKind> find_hash_kind(std::string_view name) {
  for (const HashKind kind : kHashKinds) {
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

std::uint64_t packed64(const HashBits& bits) {
  std::uint64_t code = 0;
  for (const std::uint8_t bit : bits) code = code << 1 | bit;
  return code;
}

HashBits ahash_of(const std::uint8_t* pixels, int size) {
  const int count = size * size;
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += pixels[i];
  HashBits bits;
  for (int i = 0; i < count; ++i) bits.push_back(pixels[i] * count > sum);
  return bits;
}

HashBits dhash_of(const std::uint8_t* pixels, int size) {
  HashBits bits;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) bits.push_back(pixels[y * (size + 1) + x + 1] > pixels[y * (size + 1) + x]);
  }
  return bits;
}

HashBits dhash_vertical_of(const std::uint8_t* pixels, int size) {
  HashBits bits;
  for (int i = 0; i < size * size; ++i) bits.push_back(pixels[i + size] > pixels[i]);
  return bits;
}

HashBits phash_of(const std::uint8_t* pixels, int size) { return phash_bits(dct_low(pixels, 4 * size, size)); }

HashBits phash_bits(std::span<const double> low) {
  std::vector<double> sorted(low.begin(), low.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  const double median = sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  HashBits bits;
  for (const double value : low) bits.push_back(value > median);
  return bits;
}

HashBits pdq_bits(const PdqHash& hash) {
  HashBits bits;
  for (std::size_t i = 0; i < 256; ++i) bits.push_back(hash.bytes[i / 8] >> (7 - i % 8) & 1);
  return bits;
}

HashBits whash_of(const std::uint8_t* pixels, int side, int size) { return haar_bits(pixels, side, size); }

void check(const HashRequest& request) {
  if (request.kinds.empty()) throw Failure(ErrorCode::usage, "no hash kind is named", "--kinds", "name at least one");
  if (request.size < 2 || request.size > 64) {
    throw Failure(ErrorCode::usage, "expected a hash size of 2 to 64", "--size");
  }
  const bool wavelet = std::find(request.kinds.begin(), request.kinds.end(), HashKind::whash) != request.kinds.end();
  if (wavelet && (request.size & (request.size - 1)) != 0) {
    throw Failure(ErrorCode::usage, "whash needs a size that is a power of two", "--size",
                  "use 2, 4, 8, 16, 32 or 64, or leave whash out of --kinds");
  }
}

struct PictureHasher::State {
  HashRequest request;
  int width, height;
  std::map<ResizeTarget, Resizer> resizers;
  std::optional<ColorCounter> colors;
  std::optional<PdqHasher> pdq;
  Buffer<std::uint8_t> luma;

  const std::uint8_t* reduced(ResizeTarget target) { return resizers.at(target).result(); }
};

PictureHasher::PictureHasher(const HashRequest& request, int width, int height) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.request = request;
  s.width = width;
  s.height = height;
  const auto want = [&](ResizeTarget t) { s.resizers.try_emplace(t, width, height, t.width, t.height); };
  bool pdq = false;
  for (const HashKind kind : request.kinds) {
    if (const auto target = target_of(kind, request.size, width, height)) want(*target);
    if (kind == HashKind::colorhash) s.colors.emplace();
    if (kind == HashKind::pdq) pdq = true;
  }
  if (pdq) {
    s.pdq.emplace(width, height);
  } else {
    want({kQualitySide, kQualitySide});
  }
}

PictureHasher::~PictureHasher() = default;

void PictureHasher::push(const std::uint8_t* data, std::ptrdiff_t stride, int rows, int channels) {
  State& s = *state_;
  // A few rows at a time are processed, so that luma is still in cache when the last resize reads it.
  constexpr int kRows = 16;
  for (int y = 0; y < rows; y += kRows) {
    const int n = std::min(kRows, rows - y);
    const std::uint8_t* from = data + y * stride;
    const std::uint8_t* luma = from;
    std::ptrdiff_t luma_stride = stride;
    if (channels == 3 && (!s.resizers.empty() || s.colors)) {
      luma_stride = s.width;
      s.luma.resize(static_cast<std::size_t>(kRows) * static_cast<std::size_t>(s.width));
      for (int r = 0; r < n; ++r) {
        luma_from_rgb(from + r * stride, s.luma.data() + r * luma_stride, static_cast<std::size_t>(s.width));
      }
      luma = s.luma.data();
    }
    for (auto& [target, resizer] : s.resizers) resizer.push(luma, luma_stride, n);
    if (s.colors) {
      for (int r = 0; r < n; ++r) {
        s.colors->add(from + r * stride, luma + r * luma_stride, static_cast<std::size_t>(s.width), channels);
      }
    }
    if (s.pdq) s.pdq->push(from, stride, n, channels);
  }
}

PictureHashes PictureHasher::finish() {
  State& s = *state_;
  const int n = s.request.size;
  PictureHashes out;
  if (!s.pdq) out.quality = gradient_quality(s.reduced({kQualitySide, kQualitySide}));
  for (const HashKind kind : s.request.kinds) {
    const auto target = target_of(kind, n, s.width, s.height);
    const std::uint8_t* small = target ? s.reduced(*target) : nullptr;
    switch (kind) {
      case HashKind::ahash:
        out.bits.push_back(ahash_of(small, n));
        break;
      case HashKind::dhash:
        out.bits.push_back(dhash_of(small, n));
        break;
      case HashKind::dhash_vertical:
        out.bits.push_back(dhash_vertical_of(small, n));
        break;
      case HashKind::phash:
        out.bits.push_back(phash_of(small, n));
        break;
      case HashKind::whash:
        out.bits.push_back(whash_of(small, target->width, n));
        break;
      case HashKind::colorhash:
        out.bits.push_back(s.colors->bits());
        break;
      case HashKind::pdq: {
        const PdqHash hash = s.pdq->finish();
        out.quality = hash.quality;
        out.bits.push_back(pdq_bits(hash));
        break;
      }
    }
  }
  return out;
}

bool PictureHasher::needs_color(const HashRequest& request) {
  return std::any_of(request.kinds.begin(), request.kinds.end(),
                     [](HashKind kind) { return kind == HashKind::colorhash || kind == HashKind::pdq; });
}

Workspace PictureHasher::workspace(const HashRequest& request, int width, int height) {
  Workspace out{.host = {16 * static_cast<std::uint64_t>(width)}};
  out += Resizer::workspace(width, height, kQualitySide, kQualitySide);
  for (const HashKind kind : request.kinds) {
    if (const auto target = target_of(kind, request.size, width, height)) {
      out += Resizer::workspace(width, height, target->width, target->height);
    }
    if (kind == HashKind::whash) {
      out.host += haar_workspace(whash_side(width, height, request.size), request.size);  // only when sums tie
    }
    if (kind == HashKind::pdq) out += PdqHasher::workspace(width, height);
  }
  return out;
}

}  // namespace millrace
