// Input: the images that a run processes.
// Output: a folder for each image in which its results grow, claimed by this run until it is released; and its
//   checkpoint.
// Never: processes an image that another run has claimed; resumes rows that were made from another file.
//
// The folders are in OUTPUT/unfinished.shards, on the disk of the results, and are removed when all is done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/jobs/segment/record.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::segment {

// Checkpoint of an image's results after a row of windows.
struct ResumeState {
  std::string source;                          // state of the image file and of the region image
  std::uint64_t rows = 0;                      // rows of the image that are written
  std::uint64_t next_row = 0;                  // next row of windows
  std::uint64_t windows = 0;                   // in the rows before
  std::vector<HeadResult> heads;               // as far as they are known; means are still sums
  std::vector<std::string> previews;           // saved state of Preview for each head that has one
  std::map<std::string, std::string> outputs;  // saved state of each output, by its name in the folder
};

// Name of a folder in the results folder.
inline constexpr const char* kWorkFolderName = "unfinished.shards";

class WorkFolder {
 public:
  // `provenance` is the provenance of the results, or its hash. Throws Failure(conflict) if another run holds the
  // folder, unless both share it, or if it contains unfinished results with another provenance.
  WorkFolder(const std::string& output, const std::string& provenance, const ShardSpec& shard_spec);
  // Returns the number that names an image's folder. It is a hash: two names can be constructed that have the same.
  static std::uint64_t number(const std::string& name);

  // Claims an image until release_image(); returns false if another run has it.
  bool claim(const std::string& name);
  void release_image(const std::string& name);
  // Creates the folder of a claimed image and returns its path.
  std::string folder(const std::string& name);
  std::optional<ResumeState> resume_state(const std::string& name, const std::string& source);
  void save(const std::string& name, const ResumeState& resume_state);
  // Removes the unfinished results of an image.
  void drop(const std::string& name);

  // Removes them too, but records that the image cannot be used, for other runs that share the folder.
  void fail(const std::string& name, const Error& error);
  // Returns the recorded error; nothing if there is none.
  std::optional<std::string> read_failure(const std::string& name) const;

  // Called when this run has finished its images. Returns false if other runs are still at work; else this one holds
  // the folder alone until the end.
  bool is_last();
  // True if there is no unfinished image and no recorded error.
  bool is_empty() const;
  // Removes the folder; called when unfinished results of earlier runs are not needed either.
  void remove() { folder_.remove(); }
  // Replaces internal names of the folder by names that the user knows.
  Error restore_user_paths(const Error& error) const { return folder_.restore_user_paths(error); }

 private:
  RunFolder folder_;
  bool shared_;
};

}  // namespace millrace::segment
