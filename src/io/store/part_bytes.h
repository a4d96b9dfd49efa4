// Enters: where the bytes of a part lie.
// Leaves: how many they are, and a hash of them; whether they are those of another.
// Never: knows what they mean.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millrace {

// A file, or what of it is the part's.
struct FileBytes {
  std::string path;
  std::uint64_t at = 0;
  std::optional<std::uint64_t> count{};  // nothing: to its end
};
using PartBytes = std::vector<FileBytes>;

// The files of a folder, by name; of one that is not there, or a link, none.
void add_folder(PartBytes& bytes, const std::string& folder);

// That are there. All of these throw Failure where a file cannot be looked at.
std::uint64_t size_of(const PartBytes& bytes);
// XXH3, 64 bits, of all of them in their order, with the files' names. `go_on` is asked now and then, and may throw.
std::uint64_t hash_of(const PartBytes& bytes, const std::function<void()>& go_on);
// Of the same names, and byte by byte the same.
bool same_bytes(const PartBytes& a, const PartBytes& b, const std::function<void()>& go_on);

}  // namespace millrace
