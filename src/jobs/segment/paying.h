// Input: what a picture needs of memory, and the picture before it.
// Output: that memory, once there is room for it.
// Never: waits while the one before it holds any.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/memory/budget.h"

namespace millrace::segment {

// Nothing while `before`, the picture before it, is there. Failure(out_of_memory) that names `picture` where there
// never is so much.
std::optional<Reservation> pay_behind(const std::weak_ptr<const void>& before, Bytes wanted, Budget& budget,
                                      const std::string& picture);

}  // namespace millrace::segment
