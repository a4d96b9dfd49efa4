// Any bytes as what `dedupe --json` wrote: a failure that says what is wrong, or groups that hold together.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/base/error.h"
#include "src/jobs/dedupe/review/saved_search.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  dedupe::SavedSearch found;
  try {
    found = dedupe::read_saved_search({reinterpret_cast<const char*>(data), size}, "result.json");
  } catch (const Failure& failure) {
    if (failure.error().what.empty()) std::abort();
    return 0;
  }
  if (found.ids.size() != found.groups.size()) std::abort();
  for (std::size_t g = 0; g < found.groups.size(); ++g) {
    const dedupe::PageGroup& group = found.groups[g];
    if (group.members.size() < 2 || found.ids[g].size() != group.members.size()) std::abort();
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const std::string& path = found.files.at(found.ids[g][m]).path;
      if (path != group.members[m].path || path[0] != '/' || path.find('\0') != std::string::npos) std::abort();
    }
    for (const dedupe::PagePair& pair : group.pairs) {
      if (pair.a >= group.members.size() || pair.b >= group.members.size() || pair.a == pair.b) std::abort();
    }
  }
  return 0;
}
