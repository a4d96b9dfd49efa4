// A table of prices as a spreadsheet, a download that broke off, or an enemy may have written it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "src/io/table/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const auto table = CsvTable::parse(std::string(reinterpret_cast<const char*>(data), size), "input");
  if (!table) {
    if (table.error().message().empty()) std::abort();
    return 0;
  }
  for (std::size_t column = 0; column < table->columns().size(); ++column) {
    if (!table->find(table->columns()[column])) std::abort();
    if (table->texts(column).size() != table->rows()) std::abort();
    const auto numbers = table->numbers(column);
    if (numbers ? numbers->size() != table->rows() : numbers.error().message().empty()) std::abort();
  }
  return 0;
}
