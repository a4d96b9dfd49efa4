// Input: names of files that hold no supported picture and accompany none.
// Output: the number of files of each kind, in words.
// Never: counts files that operating systems leave in folders.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace::dedupe {

class UnsupportedFiles {
 public:
  void add(const std::string& path);
  // Removes a file that add() counted: it accompanies a picture after all.
  void remove_file(const std::string& path);

  std::uint64_t files() const { return files_; }
  // Returns the kinds, those with most files first: ".psd", or "" for names without an extension.
  std::vector<std::pair<std::string, std::uint64_t>> kinds() const;
  // Returns "12 files of types that are not supported: 8 .psd, 4 .exr"; empty if there are none.
  std::string description() const;

 private:
  std::map<std::string, std::uint64_t> kinds_;
  std::uint64_t files_ = 0;
};

}  // namespace millrace::dedupe
