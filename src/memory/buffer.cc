#include "src/memory/buffer.h"

#include "src/memory/budget.h"

namespace millrace {

void throw_no_memory(std::size_t bytes) {
  throw OutOfMemory(ErrorCode::out_of_memory, "the system cannot allocate " + format_bytes(Bytes{bytes}) + " of memory",
                    {}, "allow less with --memory, or use fewer --threads");
}

}  // namespace millrace
