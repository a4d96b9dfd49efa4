// Enters: a folder where a part of a dataset is.
// Leaves: the same file or files in another folder, under the same names; or whether those there are the same.
// Never: follows a link, or leaves half a file under a name.
#pragma once

#include <cstdint>
#include <string>

namespace millrace {

// FROM/NAME as TO/NAME, synced; false where it is not there. Throws Failure. Folders of NAME are made.
bool import_file(const std::string& from, const std::string& name, const std::string& to);
// A folder of files.
bool import_folder(const std::string& from, const std::string& name, const std::string& to);

// False where both have the file, or the folder of files, and not with the same bytes.
bool same_file(const std::string& from, const std::string& name, const std::string& to);
bool same_folder(const std::string& from, const std::string& name, const std::string& to);
// The same of `bytes` behind `at` of a file.
bool same_bytes(const std::string& from, const std::string& name, const std::string& to, std::uint64_t at,
                std::uint64_t bytes);

}  // namespace millrace
