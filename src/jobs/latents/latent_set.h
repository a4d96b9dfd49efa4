// Input: a folder.
// Output: the latents in it, by group, video and step: the type and shape of each, and the place of its numbers in its
//   file.
// Never: decodes a latent's numbers, or takes a file for something that its header does not say.
//
// Latents of a run all have one type, one number of channels, one height and one width; the number of frames may differ
// between videos. The most frequent kind decides; other files are left out, each with its reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "include/millrace/array.h"
#include "src/base/error.h"
#include "src/io/file/walk.h"
#include "src/io/tensor/tensor_file.h"
#include "src/jobs/latents/options.h"
#include "src/kernels/latents/latents.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

struct LatentFile {
  FileEntry file;
  std::size_t video = 0;  // index into LatentSet::videos
  long long step = 0;
  LatentShape shape;
  tensor_file::Tensor tensor;  // type and place of its numbers in the file
  AxisOrder layout = AxisOrder::cfhw;
  bool has_metadata = false;  // true if a metadata file is beside it
  double sigma = 0;           // its noise, from that file; read only for --normalize snr
  // Hash of the file's first and last bytes: those of .npz, .pt and .gz include a checksum of all data.
  std::uint64_t ends_hash = 0;

  std::uint64_t bytes() const { return shape.elements() * tensor.type.bytes(); }
};

struct LatentVideo {
  std::string group, name;
};

struct LatentSet {
  std::vector<LatentVideo> videos;    // sorted by group and name, as bytes
  std::vector<LatentFile> files;      // sorted by video and step
  std::vector<Error> unusable;        // files that should have been latents and are not
  std::vector<std::string> warnings;  // messages for users
  std::size_t groups() const;
  // Returns the number of each video's group, from 0 in the order of their names.
  std::vector<std::uint32_t> group_numbers() const;
  // Shapes of the latents, which differ only in frames. The largest number of frames is in max_shape(). The most
  // common one, and of equally common ones the smallest, is in usual_shape().
  LatentShape max_shape() const;
  LatentShape usual_shape() const;
  std::vector<long long> steps() const;        // steps of all latents, in order
  std::size_t count_without_metadata() const;  // number of latents
  std::uint64_t bytes() const;
  // Returns a digest of which files there are: their names, sizes, times, sigmas and hashes of their ends.
  std::string digest() const;
};

// Throws Failure: not_found if there are no latents, usage for too many videos, and as list_latent_files() does.
LatentSet find_latents(const LatentsJobOptions& options, RunContext& context);

}  // namespace millrace::latents
