// Input: groups.csv.
// Output: which group a video is of.
// Never: gives one group's name to two videos because a line of it would fit both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millrace::latents {

// The file's name.
inline constexpr const char* kGroupsFile = "groups.csv";

// A row a video: the columns `video` and `group`, in any order, others beside them.
class GroupTable {
 public:
  // Of a folder, or of the folder `latents` in it; nothing where neither has one. Failure(bad_data) where it cannot be
  // understood, and as FileReader.
  static std::optional<GroupTable> find(const std::string& root);

  // By the whole path below the folder, or by the video's own folder alone. Failure(bad_data) where that may be either
  // of two videos.
  std::optional<std::string> group_of(const std::string& below);
  // Videos that were not asked for.
  std::vector<std::string> unused() const;
  const std::string& path() const { return path_; }

 private:
  static GroupTable read(const std::string& path);

  std::string path_;
  std::map<std::string, std::string> groups_;
  std::map<std::string, std::string> used_;  // names, and the video that each is of
};

}  // namespace millrace::latents
