// Input: a function that makes objects which cost time or memory to make.
// Output: objects on loan; an object that is returned is lent again, so that a stage in steady state makes no new ones.
// Never: lends one object to two users at once.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/base/mutex.h"

namespace millrace {

// Thread-safe. Must outlive the objects that it has lent.
template <typename T>
class ObjectPool {
 public:
  explicit ObjectPool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  // Returns a free object, or a new one. The object returns to the pool when its last user releases it.
  std::shared_ptr<T> take() {
    std::unique_ptr<T> item;
    {
      const MutexLock lock(mutex_);
      if (!free_.empty()) {
        item = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!item) item = make_();
    return {item.release(), [this](T* back) {
              const MutexLock lock(mutex_);
              free_.emplace_back(back);
            }};
  }

  // Calls visit(T&) for each object that is not on loan.
  template <typename Visit>
  void each(const Visit& visit) {
    const MutexLock lock(mutex_);
    for (const std::unique_ptr<T>& item : free_) visit(*item);
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  Mutex mutex_;
  std::vector<std::unique_ptr<T>> free_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace
