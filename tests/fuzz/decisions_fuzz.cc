// Any bytes as decisions.json: an error or entries in good form, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/jobs/dedupe/apply/decisions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = millrace::dedupe::parse_decisions({reinterpret_cast<const char*>(data), size});
  if (!parsed) {
    if (parsed.error().what.empty()) std::abort();
    return 0;
  }
  for (const auto& entry : parsed->entries) {
    if (entry.path.empty() || entry.path[0] != '/' || entry.path.find('\0') != std::string::npos) std::abort();
    if (entry.group.empty()) std::abort();
  }
  return 0;
}
