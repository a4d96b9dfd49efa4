// Any bytes as the lines that stages of `dedupe` leave: refused, or what a run could have written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/jobs/dedupe/stages/compared_lines.h"
#include "src/jobs/dedupe/stages/stage_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  dedupe::ComparedLinesParser compared;
  bool goes_on = true;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (const auto file = dedupe::parse_file_record(line)) {
      if (file->entry.path.empty() || file->entry.path.find('\0') != std::string::npos) std::abort();
      const bool picture = file->read.has_picture && !file->read.picture.failed;
      if (picture && (file->read.picture.width < 1 || file->read.picture.height < 1)) std::abort();
      // A record that was read back is written with the same content.
      const auto again = dedupe::parse_file_record(dedupe::format_line(file->entry, file->read));
      if (!again || again->entry.path != file->entry.path || again->read.content != file->read.content) std::abort();
    }
    if (const auto comparison = dedupe::parse_check_record(line); comparison && !(comparison->a < comparison->b))
      std::abort();
    goes_on = goes_on && compared.add(line);
  }
  for (const dedupe::ComparedBatch& part : compared.complete_parts()) {
    if (part.compared_appearances.size() % sizeof(std::uint64_t) != 0) std::abort();
    for (const dedupe::CatalogLink& link : part.links) {
      if (link.a >= link.b || !dedupe::is_valid_score(link.score)) std::abort();
    }
  }
  return 0;
}
