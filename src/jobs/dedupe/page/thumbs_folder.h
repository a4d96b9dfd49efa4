// Input: small JPEGs that do not fit into a page, and the path of their folder.
// Output: the folder at its path, in place of an earlier page's; or, after roll_back(), the earlier state.
// Never: replaces or removes a folder that holds anything but an earlier page's thumbnails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/io/file/atomic_file.h"

namespace millrace::dedupe {

// Builds the folder in a hidden one beside the final path. Failures: io and not_found when the system refuses, conflict
// for a foreign folder.
class ThumbsFolder {
 public:
  // `replaces_page` is true if the page replaces another, which may own a folder from before folders had a mark.
  ThumbsFolder(std::string path, ReadAccess readers, bool replaces_page);
  ~ThumbsFolder();
  ThumbsFolder(const ThumbsFolder&) = delete;
  ThumbsFolder& operator=(const ThumbsFolder&) = delete;

  // Throws Failure(conflict) if other contents have the folder's name.
  void refuse_foreign_folder() const;

  bool empty() const { return work_.empty(); }
  // Returns the number of the file: 0000/000000.jpg, a thousand per folder.
  std::uint64_t add(std::string_view jpeg);

  // Syncs the folder to the disk and gives it its name. Does nothing if no JPEG was added.
  void publish();
  // Restores the state before publish().
  void roll_back();
  // Removes the folder that publish() replaced; if no JPEG was added, removes the folder of an earlier page. A failure
  // only costs disk space, so none is reported.
  void drop_replaced();

 private:
  void begin();
  void make_work_folder();
  bool move_former_away();
  bool is_ours(const std::string& folder) const;
  std::string fresh() const { return work_ + "/fresh"; }
  std::string former() const { return work_ + "/former"; }

  std::string path_;
  unsigned folder_mode_, file_mode_;
  bool replaces_page_;
  std::string work_;  // the hidden folder; empty: not created yet
  std::uint64_t count_ = 0;
  bool published_ = false;
};

}  // namespace millrace::dedupe
