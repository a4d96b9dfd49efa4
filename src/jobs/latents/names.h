// Input: a folder of latents.
// Output: which files in it are latents by their names, of which group, video and step.
// Never: opens a latent.
//
// [latents/]GROUP/VIDEO/step_NNN.EXT. Where the folder, or the folder `latents` in it, has a groups.csv, that says
// which group a video is of, and videos may lie one folder up: [latents/]VIDEO/step_NNN.EXT. It names a video by its
// path below the folder, or by the last part of it, where no other video has that.
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
  std::vector<NamedLatent> latents;   // by group, video and step, as bytes
  std::vector<Error> unusable;        // files that should have been latents and are not
  std::vector<std::string> warnings;  // what a person should know
};

// Of several files of one step, as step_000.npy and step_000.pt, the first of .npy, .npy.gz, .pt, .pt.gz, .npz and
// .safetensors is taken, and the others are told. Failure(bad_data) where groups.csv cannot be understood.
NamedLatents latents_by_name(const Options& options, RunContext& context);

}  // namespace millrace::latents
