// Input: paths, which are bytes.
// Output: paths joined, split and compared as text.
// Never: reads the file system, except in real_path().
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace {

// Returns the folder of a path: "." for a bare name, "/" for a name directly below the root.
std::string folder_of(const std::string& path);
// Returns the path of a name in a folder, which may be "/".
std::string join_path(const std::string& folder, std::string_view name);
// True for a path in a folder, at any depth, and for the folder itself.
bool is_inside(const std::string& path, const std::string& folder);
// Returns the shortest end of `path` that distinguishes it from `other`. It is the last component, with as many
// components before it as needed.
std::string_view shortest_distinct_suffix(std::string_view path, std::string_view other);
// Returns the absolute path, with links and dots resolved; std::nullopt, with errno set, if it does not exist.
std::optional<std::string> real_path(const std::string& path);

}  // namespace millrace
