// Input: names of files that this program keeps for a person: catalogues, journals.
// Output: a descriptor of one that is that person's own, or the reason why it is not believed.
// Never: opens a file that somebody else could have written, or reaches one through a symbolic link.
//
// What such a file says is acted upon, so it is believed only where nobody else could have written it: the file and its
// folder belong to the user who runs the program (the folder may be root's) and none but the owner may write to them. A
// group that is the user's alone is nobody else: the user's first group, of the user's name, with no other member. Nor
// can anybody else exchange a folder above: each belongs to root or the user, and others may write to it only where it
// is sticky, as /tmp is.
#pragma once

#include <string>

#include "src/base/error.h"
#include "src/io/file/place.h"

namespace millrace {

// On file systems without owners and modes (FAT, some network drives) nothing can be checked but links and kinds; a
// person says so with --trust-files.
enum class Trust : std::uint8_t { checked, files };

// $XDG_DATA_HOME/millrace/NAME, or ~/.local/share/millrace/NAME. Failure(usage) where no home folder is known.
std::string data_path(const std::string& name);
// $XDG_CACHE_HOME/millrace/NAME, or ~/.cache/millrace/NAME: what may go at any time. Empty where no home folder is
// known.
std::string cache_path(const std::string& name);
// A path in the user's data folder, or that folder; false where there is none.
bool in_data_folder(const std::string& path);
// Makes a folder and those above it, for their owner alone; Failure when that cannot be done.
void make_folders(const std::string& folder);

// Anybody but the owner may write to what is open: by its mode, or by an access list.
bool others_may_write(int fd, const FileState& state);

// The folder that a file of our own lies in; made, with mode 0700, where it is missing. Folders below the user's data
// folder that earlier versions left open to others are closed to them. Failure(conflict) when it is not believed.
void use_own_folder_of(const std::string& file, Trust trust);

// Makes a folder that is the user's alone (0700); one of that name that is the user's alone already is taken.
// Error(conflict) when it is somebody else's, or others may write to it.
Outcome<void> make_own_folder(const std::string& path);
// An existing folder that is the user's, and that nobody else may write to.
bool is_own_folder(const std::string& path);

// Nothing when the file may be believed or is not there; in the user's data folder, one that is too open is closed to
// others first. Else Error(conflict) that says whose it is, and what to do.
Outcome<void> check_own_file(const std::string& path, Trust trust);

// Opens a file that may be believed; with `create` makes it, with mode 0600, where it is missing. Failure(conflict)
// when it is not believed, (not_found) when it is not there.
Descriptor open_own_file(const std::string& path, Trust trust, bool write, bool create);

}  // namespace millrace
