// Input: small JPEGs that a page is too small for, and where their folder shall stand.
// Output: the folder under its name, in place of an earlier page's; or, taken back, what stood there.
// Never: replaces or removes a folder that holds anything but an earlier page's thumbnails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/io/file/atomic_file.h"

namespace millrace::dedupe {

// Everything is made in a hidden folder beside the final name. Failures: io and not_found when the system refuses,
// conflict for a foreign folder.
class ThumbsFolder {
 public:
  // `earlier_page`: the page takes the place of another, so that a folder from before folders were marked may be its.
  ThumbsFolder(std::string path, Readers readers, bool earlier_page);
  ~ThumbsFolder();
  ThumbsFolder(const ThumbsFolder&) = delete;
  ThumbsFolder& operator=(const ThumbsFolder&) = delete;

  // Failure(conflict) when something else has the folder's name.
  void refuse_foreign_folder() const;

  bool empty() const { return work_.empty(); }
  // The number of the file: 0000/000000.jpg, a thousand a folder.
  std::uint64_t add(std::string_view jpeg);

  // On the disk and under its name. Nothing happens when none was added.
  void publish();
  // What stood there before publish() stands there again.
  void take_back();
  // What publish() replaced goes, and where none was added what an earlier page left. A failure costs space and nothing
  // else, so there is none.
  void drop_replaced();

 private:
  void begin();
  void make_work();
  bool take_former();
  bool is_ours(const std::string& folder) const;
  std::string fresh() const { return work_ + "/fresh"; }
  std::string former() const { return work_ + "/former"; }

  std::string path_;
  unsigned folder_mode_, file_mode_;
  bool earlier_page_;
  std::string work_;  // the hidden folder; empty: none yet
  std::uint64_t count_ = 0;
  bool published_ = false;
};

}  // namespace millrace::dedupe
