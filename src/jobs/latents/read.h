// Enters: a latent's file.
// Leaves: its numbers, [channels, frames, height, width], as float16 or float32.
// Never: takes numbers of a file that has changed since its header was read.
#pragma once

#include <cstdint>

#include "include/millrace/array.h"
#include "src/jobs/latents/inputs.h"
#include "src/memory/buffer.h"

namespace millrace::latents {

// One latent at a time, in memory that is kept for the next.
class LatentReader {
 public:
  // float64 become float32, rounded. Failure (not_found, conflict, io).
  ArrayView read(const LatentFile& latent);
  // What it holds for latents of this kind.
  static std::uint64_t bytes(const LatentFile& latent);

 private:
  Buffer<std::byte> raw_, turned_;
};

}  // namespace millrace::latents
