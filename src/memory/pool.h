// Input: things that cost time or memory to make, given back after use.
// Output: the same ones again, so that a stage in its steady state makes none.
// Never: hands one thing to two users.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace millrace {

// Thread-safe. Must outlive what it lent.
template <typename T>
class Pool {
 public:
  explicit Pool(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  // Goes back to the pool when its last user lets go of it.
  std::shared_ptr<T> take() {
    std::unique_ptr<T> item;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        item = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!item) item = make_();
    return {item.release(), [this](T* back) {
              const std::lock_guard lock(mutex_);
              free_.emplace_back(back);
            }};
  }

  // visit(T&) of each that is back.
  template <typename Visit>
  void each(const Visit& visit) {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<T>& item : free_) visit(*item);
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace millrace
