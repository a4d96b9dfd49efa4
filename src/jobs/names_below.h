// Enters: folders and files that a person named.
// Leaves: of each file below them a name for what is made of it, with the folders that it lies in.
// Never: gives one that leads out of where it is put.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace millrace {

class NamesBelow {
 public:
  explicit NamesBelow(const std::vector<std::string>& named);

  // Below the nearest folder that was named; of a file that was named itself its own name.
  std::string of(const std::string& path) const;

 private:
  std::set<std::string> roots_;  // without dots, and without a slash at the end
};

}  // namespace millrace
