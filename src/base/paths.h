// Input: paths, which are bytes.
// Output: their parts, put together and taken apart as text.
// Never: looks at a disk, but for real_path().
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace {

// The folder of a path: "." for a bare name, "/" for what lies in it.
std::string folder_of(const std::string& path);
// The path of a name in a folder, which may be "/".
std::string path_in(const std::string& folder, std::string_view name);
// True for a path in a folder, at any depth, and for the folder itself.
bool inside(const std::string& path, const std::string& folder);
// The end of a path that tells it from another: its last component, and where both have the same, as many before it as
// it takes.
std::string_view name_beside(std::string_view path, std::string_view other);
// Absolute, with links and dots resolved; nothing, and errno, when it is not there.
std::optional<std::string> real_path(const std::string& path);

}  // namespace millrace
