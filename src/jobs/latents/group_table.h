// Input: groups.csv.
// Output: the group of a video.
// Never: lets one line give its group to two videos because it fits both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::latents {

// Name of the file.
inline constexpr const char* kGroupsFile = "groups.csv";

// Table with a row per video. The columns `video` and `group` may be in any order, with others beside them.
class GroupTable {
 public:
  // Reads the table of a folder, or of the folder `latents` in it; returns nothing if neither has one. Throws
  // Failure(bad_data) for a table that cannot be understood, and Failure as FileReader does.
  static std::optional<GroupTable> find(const std::string& root);

  // Returns the group of a video, by its whole path below the folder or by the name of its own folder. Throws
  // Failure(bad_data) if a name could be that of two videos.
  std::optional<std::string> group_of(const std::string& below);
  // Returns names in the table that group_of() did not use.
  std::vector<std::string> unused() const;
  const std::string& path() const { return path_; }

 private:
  static GroupTable read(const std::string& path);

  std::string path_;
  std::map<std::string, std::string> groups_;
  std::map<std::string, std::string> used_;  // names, and the video that each was used for
};

}  // namespace millrace::latents
