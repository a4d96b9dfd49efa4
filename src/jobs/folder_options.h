// Input: folders, and the user's options for searching them.
// Output: these options, the same in every job that searches folders; the files that were found.
// Never: opens a file.
#pragma once

#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/file/walk.h"
#include "src/pipeline/run_context.h"

namespace millrace {

struct LinkOptions {
  bool follow_symlinks = false;
  bool cross_file_systems = false;

  void put_into(WalkOptions& walking) const {
    walking.follow_symlinks = follow_symlinks;
    walking.cross_file_systems = cross_file_systems;
  }
};
void describe(Settings& settings, LinkOptions& options);

struct FolderOptions {
  std::vector<std::string> exclude;
  bool hidden = false;
  LinkOptions links;
};
void describe(Settings& settings, FolderOptions& options);

// Returns all files below the roots, of any type, except those that `dedupe apply` set aside.
WalkResult find_files(const std::vector<std::string>& roots, const FolderOptions& options, const RunContext& context);

}  // namespace millrace
