#include "src/jobs/segment/paying.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace millrace::segment {

std::optional<Reservation> pay_behind(const std::weak_ptr<const void>& before, Bytes wanted, Budget& budget,
                                      const std::string& picture) {
  const Bytes most = budget.largest_grant();
  // The image before this one releases its memory a moment after `before` has expired.
  for (int k = 0; wanted <= most && k < 1000; ++k) {
    if (auto paid = budget.try_reserve(wanted)) return paid;
    if (!before.expired()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw Failure(ErrorCode::out_of_memory,
                fmt::format("its windows take {}, and {} are left", to_text(wanted), to_text(most)), picture,
                "allow more with --memory");
}

}  // namespace millrace::segment
