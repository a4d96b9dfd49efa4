// Input: a folder that holds a shard of a dataset.
// Output: the same files in another folder, under the same names.
// Never: follows a symbolic link, or leaves a partial file under its name.
#pragma once

#include <string>

#include "src/io/file/atomic_file.h"

namespace millrace {

// Copies FROM/NAME to TO/NAME, synced; false if it does not exist. Throws Failure. Folders in NAME are made. An
// temporary copy is in the work folder, on the same file system as TO.
bool import_file(const std::string& from, const std::string& name, const std::string& to,
                 const AtomicFile::ShardOptions& shard);
// Copies a folder of files in the same way.
bool import_folder(const std::string& from, const std::string& name, const std::string& to,
                   const std::string& work_folder);

// Renames a finished folder, which is in `work_folder`, to PATH. An existing folder is kept if it holds the same files.
// A folder that holds others was damaged, and is replaced.
void publish_folder(const std::string& finished, const std::string& path);

}  // namespace millrace
