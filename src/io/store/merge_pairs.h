// Enters: files of pairs of rows, each sorted, 9 bytes a pair: i uint32, j uint32, distance uint8.
// Leaves: one .npy file of all of them, sorted.
// Never: holds more than a piece of each file; or takes a pair twice.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace millrace {

inline constexpr std::size_t kPairRowBytes = 9;

// Failure(bad_data) where a file is not sorted or ends within a pair, or two of them have the same one: they were not
// made by runs of one command. `go_on` is asked now and then, and may throw.
void merge_pairs(const std::vector<std::string>& parts, const std::string& npy, const std::function<void()>& go_on);

}  // namespace millrace
