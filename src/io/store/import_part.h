// Enters: a folder where a part of a dataset is.
// Leaves: the same file or files in another folder, under the same names.
// Never: follows a link, or leaves half a file under a name.
#pragma once

#include <string>

namespace millrace {

// FROM/NAME as TO/NAME, synced; false where it is not there. Throws Failure. Folders of NAME are made.
bool import_file(const std::string& from, const std::string& name, const std::string& to);
// A folder of files.
bool import_folder(const std::string& from, const std::string& name, const std::string& to);

}  // namespace millrace
