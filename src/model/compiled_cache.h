// Input: what a compiled model depends on.
// Output: a folder for it in the user's own cache.
// Never: one that anybody else could have written to: what is compiled is run.
#pragma once

#include <chrono>
#include <string>

#include "src/base/error.h"
#include "src/io/file/place.h"
#include "src/model/session.h"

namespace millrace::model {

// In hexadecimal: of the model's bytes, how it is to run, the runtime's version, and the CPU.
std::string cache_key(const ModelFile& file, const SessionOptions& options, const std::string& runtime);
// TOP/KEY, made with mode 0700 as is what is missing above it. Error(conflict) where it, or TOP, is somebody else's or
// others may write to it. Of many, those that were used least lately go.
Outcome<std::string> cache_folder(const std::string& top, const std::string& key);

// One at a time, of all processes, compiles into such a folder or reads what lies there: the runtime writes its file in
// place, and who reads it meanwhile would see half of it. What a process that was killed has left is cleared away.
class CacheTurn {
 public:
  // Waits for whoever is at it. Error(timed_out) where that takes longer, (cancelled) where `cancel` says so, and what
  // system calls say.
  static Outcome<CacheTurn> wait(const std::string& folder, std::chrono::milliseconds patience,
                                 const CancelToken* cancel = nullptr);
  // Records a hash of what lies there. The next run clears it away where it is not recorded, or the bytes are others.
  void done() const;

 private:
  CacheTurn(std::string folder, Descriptor lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string folder_;
  std::string found_;  // names, sizes and times of what was there and is whole
  Descriptor lock_;    // until this is gone
};

}  // namespace millrace::model
