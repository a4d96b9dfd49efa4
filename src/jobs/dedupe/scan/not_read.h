// Input: names of files that hold no picture that is read, and accompany none.
// Output: how many there are of each kind, in words.
// Never: it lists what systems leave behind in folders.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace::dedupe {

class NotRead {
 public:
  void add(const std::string& path);
  // Uncounts a file that add() was given: it accompanies a picture after all.
  void take_back(const std::string& path);

  std::uint64_t files() const { return files_; }
  // The kinds with most files first: ".psd", or "" for names without a kind.
  std::vector<std::pair<std::string, std::uint64_t>> kinds() const;
  // Says "12 files of kinds that are not read: 8 .psd, 4 .exr"; empty without any.
  std::string words() const;

 private:
  std::map<std::string, std::uint64_t> kinds_;
  std::uint64_t files_ = 0;
};

}  // namespace millrace::dedupe
