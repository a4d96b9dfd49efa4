// Any bytes as a journal: refused, or one that names only what an operation of this program names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/jobs/dedupe/apply/operation_names.h"

namespace {

using millrace::dedupe::Action;

void require(bool right) {
  if (!right) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using millrace::file_name;
  using millrace::folder_of;
  millrace::dedupe::Journal journal;
  try {
    journal = millrace::dedupe::parse_journal({reinterpret_cast<const char*>(data), size}, "journal");
  } catch (const millrace::Failure&) {
    return 0;
  }
  if (journal.id.empty()) return 0;  // one that was cut off in its first line
  require(millrace::dedupe::is_journal_id(journal.id));
  for (const auto& record : journal.records) {
    for (const std::string* path : {&record.path, &record.to, &record.temporary}) {
      require(path->empty() || (path->starts_with('/') && (*path + "/").find("/../") == std::string::npos &&
                                path->find('\0') == std::string::npos));
    }
    // Only hidden names of this journal, and the file's own name, beside the file or at its destination.
    if (!record.temporary.empty()) {
      require(file_name(record.temporary).starts_with(".millrace-") &&
              record.temporary.find(journal.id) != std::string::npos);
    }
    if (journal.action == Action::remove) {
      require(folder_of(folder_of(record.to)) == folder_of(record.path) &&
              file_name(folder_of(record.to)).starts_with(".millrace-removed-" + journal.id));
    }
    if (journal.action == Action::trash) require(record.to.empty() && record.temporary.empty());
  }
  return 0;
}
