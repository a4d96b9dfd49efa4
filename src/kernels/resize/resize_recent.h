// Cache of the results for recently used axis sizes, shared between threads.
#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include "src/base/mutex.h"

namespace millrace {

// A folder of photographs has few sizes, and computing an axis takes thousands of sines. Without the cache that took 5
// % of a hash's time, and packing the weights anew for every image 1 %. T has `in`, `out` and weight_count().
template <typename T>
class RecentCache {
 public:
  template <typename Make>
  std::shared_ptr<const T> get(int in, int out, Make make) {
    {
      const MutexLock lock(mutex_);
      for (auto at = items_.begin(); at != items_.end(); ++at) {
        if ((*at)->in != in || (*at)->out != out) continue;
        items_.splice(items_.begin(), items_, at);
        return items_.front();
      }
    }
    std::shared_ptr<const T> made = make();
    if (made->weight_count() <= kMaxWeights) {
      const MutexLock lock(mutex_);
      items_.push_front(made);
      if (items_.size() > kKept) items_.pop_back();
    }
    return made;
  }

 private:
  // Number of kept items, and their maximum number of weights: long axes are rare and large.
  static constexpr std::size_t kKept = 32, kMaxWeights = 1 << 16;
  Mutex mutex_;
  std::list<std::shared_ptr<const T>> items_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
