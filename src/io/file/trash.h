// Input: files for the desktop's trash, or that went there.
// Output: them in it, with the note that a desktop needs to restore them; or where in it they are.
// Never: empties it. Needs no desktop session. Believes nothing in a trash that others could have written.
//
// The FreeDesktop.org Trash specification 1.0: the home trash for files on its file system, else one at the top of the
// file's own: .Trash/UID where an administrator made .Trash (sticky, no link), else .Trash-UID.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/relocate.h"

namespace millrace {

// The path as Place takes it; a file that is not the expected one stays.
Outcome<void> move_to_trash(const std::string& path, const FileState& expected);

// Looks for trashed files in the home trash and in the trashes of the drive that they were on. What it has seen of a
// trash it remembers, so make a new one after anything went in.
class TrashSearch {
 public:
  // Where the file that was `path`, and looked like `before`, is now.
  std::optional<std::string> find(const std::string& path, const FileState& before);
  // Removes the desktop's note about a file that left the trash.
  static void forget(const std::string& trashed);

 private:
  struct Trashed {
    std::string file;      // where it is
    std::string original;  // what the note says; empty where there is none that may be believed
    FileState state;
  };
  const std::vector<Trashed>& listing(const std::string& trash, const std::string& top);
  std::map<std::string, std::vector<Trashed>> listings_;
};

}  // namespace millrace
