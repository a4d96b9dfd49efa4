#include "src/pipeline/cancel_watch.h"

#include <gtest/gtest.h>

#include <atomic>

namespace millrace {
namespace {

TEST(CancelWatch, TellsOnceWhateverTheTime) {
  CancelToken cancel;
  std::atomic<int> calls{0};
  {
    const CancelWatch watch(cancel, [&] { ++calls; });
    cancel.cancel();
    while (calls == 0) std::this_thread::yield();
  }
  EXPECT_EQ(calls, 1);
}

TEST(CancelWatch, TellsNothingBehindItsEndOrUnasked) {
  CancelToken cancel;
  std::atomic<int> calls{0};
  {
    const CancelWatch watch(cancel, [&] { ++calls; });
  }
  cancel.cancel();
  EXPECT_EQ(calls, 0);
  // The destructor waits for a call that is under way: `own` is valid until then.
  for (int round = 0; round < 20; ++round) {
    auto own = std::make_unique<std::atomic<int>>(0);
    {
      const CancelWatch watch(cancel, [&] { ++*own; });
      if (round % 2 == 0) std::this_thread::yield();
    }
    EXPECT_LE(*own, 1);
  }
}

}  // namespace
}  // namespace millrace
