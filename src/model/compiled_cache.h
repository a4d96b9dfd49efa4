// Input: everything that a compiled model depends on.
// Output: a folder for it in the user's own cache.
// Never: returns a folder that anybody else could have written to, because compiled models are executed.
#pragma once

#include <chrono>
#include <string>

#include "src/base/error.h"
#include "src/io/file/directory_entry.h"
#include "src/model/session.h"

namespace millrace::model {

// Returns a hexadecimal key of the model's bytes, the session's options, the runtime's version, and the CPU.
std::string cache_key(const ModelFile& file, const SessionOptions& options, const std::string& runtime);
// Creates TOP/KEY, and missing folders above it, with mode 0700. Returns Error(conflict) where it, or TOP, belongs to
// somebody else, or others may write to it. Of many folders, those that were not used for the longest time are removed.
Outcome<std::string> cache_folder(const std::string& top, const std::string& key);

// A lock of a cache folder. Only one process at a time compiles into a folder or reads from it, because the runtime
// writes in place and a reader would see half a file. Files that a killed process has left are removed.
class CacheLock {
 public:
  // Waits for the lock. Returns Error(timed_out) after `timeout`, (cancelled) where `cancel` is set, and the errors of
  // system calls.
  static Outcome<CacheLock> wait(const std::string& folder, std::chrono::milliseconds timeout,
                                 const CancelToken* cancel = nullptr);
  // Records a hash of the files. The next run removes the files where there is no hash, or another one.
  void done() const;

 private:
  CacheLock(std::string folder, Descriptor lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string folder_;
  std::string found_;  // names, sizes and times of files that were found intact
  Descriptor lock_;    // locked while this object exists
};

}  // namespace millrace::model
