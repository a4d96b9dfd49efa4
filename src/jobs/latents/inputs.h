// Input: a folder.
// Output: the latents in it, by group, video and step: what each is, and where its numbers lie in its file.
// Never: reads a latent's numbers, or takes a file for what its header does not say.
//
// Latents are of one type, and of one number of channels, one height and one width; of frames the videos may have
// different numbers. What most have is what all have to have; others are left out, each with its reason.
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
  std::size_t video = 0;  // of LatentSet::videos
  long long step = 0;
  Shape shape;
  tensor_file::Tensor tensor;  // where its numbers are
  Layout layout = Layout::cfhw;
  bool has_metadata = false;  // a file beside it tells how it was made
  double sigma = 0;           // of that, where --normalize snr asks for it
  std::uint64_t ends = 0;  // a hash of its first bytes and its last: those of .npz, .pt and .gz have a checksum of all

  std::uint64_t bytes() const { return shape.elements() * tensor.type.bytes(); }
};

struct Video {
  std::string group, name;
};

struct LatentSet {
  std::vector<Video> videos;          // by group and name, as bytes
  std::vector<LatentFile> files;      // by video and step
  std::vector<Error> unusable;        // files that should have been latents and are not
  std::vector<std::string> warnings;  // what a person should know
  std::size_t groups() const;
  // The number of each video's group, from 0 in the order of their names.
  std::vector<std::uint32_t> group_numbers() const;
  // Latents differ in their frames alone: with most of them; with as many as most latents have, of what as many have
  // the fewer.
  Shape most_shape() const;
  Shape usual_shape() const;
  std::vector<long long> steps() const;  // that any latent is of, in order
  std::size_t without_metadata() const;  // latents
  std::uint64_t bytes() const;
  // Tells sets apart: which files there are, of what size, time and ends.
  std::string digest() const;
};

// Failure (not_found where there are none; what the walk says).
LatentSet find_latents(const Options& options, RunContext& context);

}  // namespace millrace::latents
