// Input: the user's options of `millrace fundus`.
// Output: checked options.
// Never: accesses a file.
#pragma once

#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/jobs/picture_files.h"

namespace millrace::fundus {

struct FundusOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool write_crop = true, write_enhanced = true;
  // docs/design/fundus.md gives the reasons for the constants of this file.
  long long size = 1024;  // side of a crop, in pixels
  PictureFileOptions files;
};

void describe(Settings& settings, FundusOptions& options);

}  // namespace millrace::fundus
