#include "src/jobs/segment/reserve_after.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace millrace::segment {

std::optional<Reservation> reserve_after(const std::weak_ptr<const void>& before, Bytes wanted, Budget& budget,
                                         const std::string& picture) {
  const Bytes most = budget.largest_grant();
  // The image before this one releases its memory a moment after `before` has expired.
  for (int k = 0; wanted <= most && k < 1000; ++k) {
    if (auto reservation = budget.try_reserve(wanted)) return reservation;
    if (!before.expired()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw Failure(ErrorCode::out_of_memory,
                fmt::format("its windows need {}, and only {} are free", format_bytes(wanted), format_bytes(most)),
                picture, "increase --memory");
}

}  // namespace millrace::segment
