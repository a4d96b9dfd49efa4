#include "src/jobs/dedupe/suggest/bit_rot.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "src/io/file/file_reader.h"

namespace millrace::dedupe {

std::optional<std::uint64_t> count_differing_bytes(const std::string& one, const std::string& other) {
  // Limits: a disk sector, and a sixteenth of a small file. Files that a program rewrote differ in more bytes.
  constexpr std::uint64_t kMaxDifferences = 4096, kPart = 16;
  const auto a = FileReader::open(one, FileReader::Hashing::off), b = FileReader::open(other, FileReader::Hashing::off);
  if (!a || !b || (*a)->size() != (*b)->size()) return std::nullopt;
  const std::uint64_t few = std::min(kMaxDifferences, (*a)->size() / kPart);
  std::uint64_t differ = 0;
  while (true) {
    const auto first = (*a)->next(), second = (*b)->next();
    if ((*a)->failed() || (*b)->failed() || first.size() != second.size()) return std::nullopt;
    if (first.empty()) return differ > 0 ? std::optional(differ) : std::nullopt;
    differ += std::inner_product(first.begin(), first.end(), second.begin(), std::uint64_t{0}, std::plus<>(),
                                 std::not_equal_to<>());
    if (differ > few) return std::nullopt;
  }
}

}  // namespace millrace::dedupe
