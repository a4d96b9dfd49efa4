// Input: files in formats whose codecs we cannot fuzz clean.
// Output: their rows, decoded in helper processes; or the reason, which may be that a helper died of one.
// Never: retries a file that killed a helper; shares a helper with another pool.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/io/image/picture.h"

namespace millrace {

class HelperProcess;

// The helpers of one run. Thread-safe.
class HelperPool {
 public:
  // `memory` is what each helper may allocate; a codec that goes over it fails or dies. 0 sets no limit.
  explicit HelperPool(Bytes memory = {});
  ~HelperPool();
  HelperPool(const HelperPool&) = delete;
  HelperPool& operator=(const HelperPool&) = delete;

  // Starts a helper when none is idle. One that dies or hangs is replaced at the next call; the file's outcome then is
  // Error(crashed).
  Outcome<Decoded> decode(FileReader& file, ImageFormat format, const DecodeOptions& options, RowSink& sink);

  // Ends the idle helpers, whose memory is wanted elsewhere. The next picture starts one again.
  void end_idle();

  // In words: CPU time, user and system, of the helpers that were ended.
  std::string cost() const;

 private:
  std::unique_ptr<HelperProcess> take_idle();
  // One that has the request. A helper that died while it was idle is no fault of this file's. Why there is none, with
  // `subject` the picture.
  Outcome<std::unique_ptr<HelperProcess>> one_with(const DecodeOptions& options, ImageFormat format, int fd,
                                                   const std::string& subject);

  const Bytes memory_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<HelperProcess>> idle_;
  double seconds_ = 0;  // of CPU time, of those that were ended
};

}  // namespace millrace
