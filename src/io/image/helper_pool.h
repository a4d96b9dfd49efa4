// Input: files in formats whose codecs cannot be made safe by fuzzing.
// Output: their rows, decoded in helper processes; or the error, which may be that a helper crashed.
// Never: retries a file that killed a helper; shares a helper with another pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/image/picture.h"

namespace millrace {

class HelperProcess;

// Decoding helpers of one run. Thread-safe.
class HelperPool {
 public:
  // `memory` is the number of bytes that each helper may allocate. A codec that exceeds it fails or dies. 0 sets no
  // limit.
  explicit HelperPool(Bytes memory = {});
  ~HelperPool();
  HelperPool(const HelperPool&) = delete;
  HelperPool& operator=(const HelperPool&) = delete;

  // Starts a helper when none is idle. A helper that dies or hangs is replaced at the next call, and the file's outcome
  // is Error(crashed).
  Outcome<DecodeResult> decode(FileReader& file, ImageFormat format, const DecodeOptions& options, RowSink& sink);

  // Ends the idle helpers to free their memory. The next picture starts a new one.
  void end_idle();

  // Returns a sentence with the CPU time, user and system, of the helpers that were ended.
  std::string describe_cpu_time() const;

 private:
  std::unique_ptr<HelperProcess> take_idle();
  // Returns a helper that has received the request, or else the error, with `subject` as the picture's name. A helper
  // that died while it was idle is replaced, since this file did not cause its death.
  Outcome<std::unique_ptr<HelperProcess>> send_request(const DecodeOptions& options, ImageFormat format, int fd,
                                                       const std::string& subject);

  const Bytes memory_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<HelperProcess>> idle_ MILLRACE_GUARDED_BY(mutex_);
  double seconds_ MILLRACE_GUARDED_BY(mutex_) = 0;  // CPU time of the helpers that were ended
};

}  // namespace millrace
