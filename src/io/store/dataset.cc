#include "src/io/store/dataset.h"

#include <numeric>

namespace millrace {

bool has_expected_size(const ArrayRows& rows, const ArraySpec& spec, std::size_t count) {
  if (spec.rows == ArraySpec::Rows::numbers) {
    return rows.lengths.empty() && rows.bytes.size() == count * spec.row_bytes();
  }
  return rows.lengths.size() == count &&
         std::accumulate(rows.lengths.begin(), rows.lengths.end(), std::uint64_t{0}) == rows.bytes.size();
}

}  // namespace millrace
