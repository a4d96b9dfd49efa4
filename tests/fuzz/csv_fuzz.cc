// A table of prices as a spreadsheet, a download that broke off, or an enemy may have written it. It is read twice,
// whole and in small pieces: both must give the same rows, or the same complaint.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/io/table/csv.h"

namespace {

using namespace millrace;

// Every cell, and then the complaint if there was one.
std::vector<std::string> read(std::span<const std::uint8_t> text, std::size_t piece) {
  std::vector<std::string> out;
  CsvReader reader(
      [&] {
        const auto part = text.first(std::min(piece, text.size()));
        text = text.subspan(part.size());
        return part;
      },
      "input");
  std::size_t columns = 0, line = 0;
  try {
    while (reader.next()) {
      if (columns == 0) columns = reader.cells().size();
      if (columns == 0 || reader.cells().size() != columns || reader.line() <= line) std::abort();
      line = reader.line();
      for (const std::string_view cell : reader.cells()) {
        out.emplace_back(cell);
        (void)parse_csv_number(cell);
      }
    }
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::bad_data) std::abort();
    // Which of two mistakes is met first depends on the pieces: a zero byte is seen as soon as it is read.
    out.emplace_back("failed");
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> text(data + 1, size - 1);
  const std::vector<std::string> whole = read(text, text.size() + 1), pieces = read(text, 1 + data[0] % 16);
  if (whole.empty() || whole.back() != "failed") {
    if (whole != pieces) std::abort();
  } else if (pieces.empty() || pieces.back() != "failed") {
    std::abort();
  }
  return 0;
}
