// Input: a folder of latents.
// Output: the files in it that are latents by their names, with group, video and step.
// Never: opens a latent.
//
// Paths are [latents/]GROUP/VIDEO/step_NNN.EXT. If the folder, or the folder `latents` in it, has a groups.csv, that
// file gives the group of each video. Videos may then lie one folder up: [latents/]VIDEO/step_NNN.EXT. In groups.csv a
// video has its path below the folder, or the last part of that path if no other video has it.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/walk.h"
#include "src/io/tensor/tensor_file.h"
#include "src/jobs/latents/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

struct NamedLatent {
  std::string group, video;
  long long step = 0;
  FileEntry file;
  tensor_file::Format format = tensor_file::Format::npy;
  std::string metadata;  // the path of step_NNN_metadata.json beside it; empty where there is none
};

struct NamedLatents {
  std::vector<NamedLatent> latents;   // sorted by group, video and step, as bytes
  std::vector<Error> unusable;        // files that should have been latents and are not
  std::vector<std::string> warnings;  // messages for users
};

// Finds latents. Several files of one step, such as step_000.npy and step_000.pt, are ordered .npy, .npy.gz, .pt,
// .pt.gz, .npz, .safetensors. The first is taken and the others are reported. Throws Failure(bad_data) for a groups.csv
// that cannot be understood.
NamedLatents list_latent_files(const LatentsJobOptions& options, RunContext& context);

}  // namespace millrace::latents
