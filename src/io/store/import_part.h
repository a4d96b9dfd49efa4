// Input: a folder where a part of a dataset is.
// Output: the same file or files in another folder, under the same names.
// Never: follows a link, or leaves half a file under a name.
#pragma once

#include <string>

#include "src/io/file/atomic_file.h"

namespace millrace {

// FROM/NAME as TO/NAME, synced; false where it is not there. Throws Failure. Folders of NAME are made. What is not
// whole yet lies in the work folder, on the same file system as TO.
bool import_file(const std::string& from, const std::string& name, const std::string& to,
                 const AtomicFile::OfShard& shard);
// A folder of files.
bool import_folder(const std::string& from, const std::string& name, const std::string& to,
                   const std::string& work_folder);

// Gives a finished folder, made of names of `work_folder`, the name PATH. What has that name already stays where it
// holds the same files; a folder that holds others was damaged, and goes.
void put_folder_in_place(const std::string& finished, const std::string& path);

}  // namespace millrace
