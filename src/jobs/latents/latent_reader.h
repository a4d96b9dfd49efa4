// Input: a latent's file.
// Output: its numbers, [channels, frames, height, width], as float16 or float32, normalized as --normalize asks.
// Never: returns numbers of a file that has changed since its header was read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "include/millrace/array.h"
#include "src/io/tensor/tensor_file.h"
#include "src/jobs/latents/latent_set.h"
#include "src/memory/buffer.h"

namespace millrace::latents {

// Normalization of latents, as --normalize asks.
struct Normalization {
  Normalize method = Normalize::none;
  std::map<long long, std::vector<ChannelScaling>> by_step;  // scalings [channels] by step; empty for other choices
};

// Reads one latent at a time, into memory that is kept for the next.
class LatentReader {
 public:
  explicit LatentReader(const Normalization& normalization) : normalization_(normalization) {}

  // Rounds float64 to float32, and widens bfloat16 to float32. With --normalize channel, a latent that is not finite is
  // not normalized. A latent whose file is damaged behind its header is NaN throughout; find_damage() returns the
  // reason, and no other latent is affected. Throws Failure (not_found, conflict, io).
  ArrayView read(const LatentFile& latent);
  // Returns the bytes that a reader holds for latents of this kind.
  static std::uint64_t bytes(const LatentFile& latent, Normalize method);

 private:
  void normalize(const LatentFile& latent, ArrayView& view);

  const Normalization& normalization_;
  tensor_file::TensorReader file_;
  Buffer<std::byte> raw_, converted_;
};

// Returns the reason why a latent cannot be read; nothing if it can. Throws Failure as LatentReader::read() does.
std::optional<Error> find_damage(const LatentFile& latent);

// Returns the bytes that one reader needs for any latent of a set.
std::uint64_t estimate_reading_memory(const LatentSet& set, Normalize method);

}  // namespace millrace::latents
