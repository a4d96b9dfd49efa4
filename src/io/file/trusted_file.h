// Input: paths of files that this program keeps for a user: catalogs, journals.
// Output: a descriptor of a file that only this user can have written, or the reason why the file is not trusted.
// Never: opens a file that somebody else could have written, or one whose name is a symbolic link.
//
// The program acts upon the contents of such a file, so it trusts only files that nobody else could have written. The
// file and its folder belong to the user who runs the program (the folder may be root's). Only the owner may write to
// them. A private group of the user is allowed: the user's first group, with the user's name and no other member.
// Nobody else can exchange a folder above either. Each belongs to root or the user, and others may write to it only if
// it is sticky, like /tmp.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/io/file/directory_entry.h"

namespace millrace {

// Level of trust. On file systems without owners and modes (FAT, some network drives) only links and file kinds can be
// checked. The user declares such a file system with --trust-files.
enum class Trust : std::uint8_t { checked, files };

// Returns $XDG_DATA_HOME/millrace/NAME, or ~/.local/share/millrace/NAME. Failure(usage) if no home folder is found.
std::string data_path(const std::string& name);
// Returns $XDG_CACHE_HOME/millrace/NAME, or ~/.cache/millrace/NAME, for files that may be deleted at any time. Empty if
// no home folder is found.
std::string cache_path(const std::string& name);
// Returns true for the user's data folder and every path in it; false if there is no such folder.
bool is_in_data_folder(const std::string& path);
// Makes a folder and its missing parents, with mode 0700; Failure if that fails.
void make_private_folders(const std::string& folder);

// Returns true if anybody but the owner may write to the open file, by its mode or by an access list.
bool can_others_write(int fd, const FileState& state);

// Makes the folder of a trusted file, with mode 0700, if it is missing. Folders below the user's data folder that
// earlier versions left open to others are closed to them. Failure(conflict) if the folder is not trusted.
void prepare_trusted_folder(const std::string& file, Trust trust);

// Makes a folder for the user alone (mode 0700). An existing folder of that name is used if it is the user's alone.
// Error(conflict) if it belongs to somebody else, or others may write to it.
Outcome<void> make_trusted_folder(const std::string& path);
// Returns true for an existing folder that belongs to the user and that nobody else may write to.
bool is_trusted_folder(const std::string& path);

// Succeeds if the file is trusted or does not exist. In the user's data folder, a file that is too open is first closed
// to others. Otherwise Error(conflict) with the owner and a remedy.
Outcome<void> verify_trusted_file(const std::string& path, Trust trust);

// Opens a trusted file; with `create`, makes it with mode 0600 if it is missing. Failure(conflict) if it is not
// trusted, (not_found) if it does not exist.
Descriptor open_trusted_file(const std::string& path, Trust trust, bool write, bool create);

}  // namespace millrace
