// Enters: what a person says of symbolic links inside of folders.
// Leaves: the options for it, the same in every job that searches folders.
// Never: follows one.
#pragma once

#include "src/base/settings.h"
#include "src/io/file/walk.h"

namespace millrace {

struct LinkOptions {
  bool follow_symlinks = false;
  bool cross_file_systems = false;

  void put_into(WalkOptions& walking) const {
    walking.follow_symlinks = follow_symlinks;
    walking.cross_file_systems = cross_file_systems;
  }
};

inline void describe(Settings& settings, LinkOptions& options) {
  settings.add_switch("follow-symlinks", "also what symbolic links inside a folder point to", options.follow_symlinks);
  settings.add_switch("cross-file-systems", "follow symbolic links to other file systems than those of the folders too",
                      options.cross_file_systems);
}

}  // namespace millrace
