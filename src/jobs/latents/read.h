// Input: a latent's file.
// Output: its numbers, [channels, frames, height, width], as float16 or float32, made alike as --normalize asks.
// Never: takes numbers of a file that has changed since its header was read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "include/millrace/array.h"
#include "src/io/tensor/tensor_file.h"
#include "src/jobs/latents/inputs.h"
#include "src/memory/buffer.h"

namespace millrace::latents {

// What --normalize does to a latent.
struct Normalization {
  Normalize how = Normalize::none;
  std::map<long long, std::vector<Scaling>> of_steps;  // [channels], where all of a step are asked
};

// One latent at a time, in memory that is kept for the next.
class LatentReader {
 public:
  explicit LatentReader(const Normalization& normalization) : normalization_(normalization) {}

  // float64 become float32, rounded; bfloat16 become float32. One that is not finite is not made alike; one whose file
  // is damaged behind its header is NaN throughout, and damage_of() says why: it costs no other latent anything.
  // Failure (not_found, conflict, io).
  ArrayView read(const LatentFile& latent);
  // What it holds for latents of this kind.
  static std::uint64_t bytes(const LatentFile& latent, Normalize how);

 private:
  void normalize(const LatentFile& latent, ArrayView& view);

  const Normalization& normalization_;
  tensor_file::Reader file_;
  Buffer<std::byte> raw_, turned_;
};

// Why a latent cannot be read; nothing where it can. Failure as LatentReader::read().
std::optional<Error> damage_of(const LatentFile& latent);

// What one reader of any latent of a set holds.
std::uint64_t reading_memory(const LatentSet& set, Normalize how);

}  // namespace millrace::latents
