// Input: the memory that an image needs, and the image before it.
// Output: that memory, reserved once there is room for it.
// Never: waits while the image before it holds memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/memory/budget.h"

namespace millrace::segment {

// Reserves the memory. Returns nothing if it has to wait for `before`, the image before it. Throws
// Failure(out_of_memory) that names `picture` if the budget can never grant as much.
std::optional<Reservation> reserve_after(const std::weak_ptr<const void>& before, Bytes wanted, Budget& budget,
                                         const std::string& picture);

}  // namespace millrace::segment
