// Input: files for the desktop's trash, or files that were moved there.
// Output: the files in the trash, with the notes that a desktop needs to restore them; or their paths in it.
// Never: empties the trash, needs a desktop session, or trusts anything in a trash that others could have written.
//
// The FreeDesktop.org Trash specification 1.0: the home trash is for files on its file system. Other files go to a
// trash at the top of their own file system. It is .Trash/UID if an administrator made .Trash (sticky, no link), else
// .Trash-UID.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/relocate.h"

namespace millrace {

// Moves a file to the trash. The path is one that `DirectoryEntry` accepts; a file that is not the expected one is
// kept.
Outcome<void> move_to_trash(const std::string& path, const FileState& expected);

// Searches for trashed files in the home trash and in the trashes of the drive that they were on. Listings are cached,
// so make a new object after any file was moved to the trash.
class TrashSearch {
 public:
  // Returns the present path of the file that was `path` and had the state `before`.
  std::optional<std::string> find(const std::string& path, const FileState& before);
  // Removes the desktop's note about a file that left the trash.
  static void remove_note(const std::string& trashed);

 private:
  struct Trashed {
    std::string file;      // path in the trash
    std::string original;  // path in its note; empty if there is no note that can be trusted
    FileState state;
  };
  const std::vector<Trashed>& listing(const std::string& trash, const std::string& top);
  std::map<std::string, std::vector<Trashed>> listings_;
};

}  // namespace millrace
