#include "src/io/image/metadata/iptc.h"

#include "src/base/text.h"
#include "src/io/image/metadata/byte_range.h"
#include "src/io/image/metadata/editing_software.h"

namespace millrace {

IptcFacts read_iptc(std::span<const std::uint8_t> datasets) {
  constexpr std::uint8_t kMark = 0x1C, kRecord = 2;
  enum : std::uint8_t { kTitle = 5, kKeyword = 25, kInstructions = 40, kCaption = 120 };
  IptcFacts facts;
  while (datasets.size() >= 5 && datasets[0] == kMark) {
    const std::uint8_t record = datasets[1], number = datasets[2];
    std::uint64_t size = number_of(datasets.subspan(3, 2), ByteOrder::big);
    datasets = datasets.subspan(5);
    if ((size & 0x8000) != 0) {
      // In an extended dataset, the rest of the number is the count of bytes that hold the length.
      const std::uint64_t bytes = size & 0x7FFF;
      if (bytes > 8 || bytes > datasets.size()) break;
      size = number_of(datasets.first(bytes), ByteOrder::big);
      datasets = datasets.subspan(bytes);
    }
    if (size > datasets.size()) break;
    const std::string_view text = as_text(datasets.first(size));
    datasets = datasets.subspan(size);
    if (record != kRecord || trim(text).empty()) continue;
    facts.texts.emplace_back(number, text);
    if (number == kTitle) facts.title = true;
    if (number == kKeyword) ++facts.keywords;
    if (number == kCaption && !is_default_description(text)) facts.description = true;
    if (number == kInstructions && text.starts_with("FBMD")) facts.edited = true;  // instructions written by Facebook
  }
  return facts;
}

std::span<const std::uint8_t> find_iptc_datasets(std::span<const std::uint8_t> resources) {
  constexpr std::uint64_t kIptc = 0x0404;
  const auto even = [](std::uint64_t bytes) { return bytes + (bytes & 1); };
  // A resource is "8BIM", a number, a name after its length, and the data after their length. Name and data are padded
  // to even lengths.
  while (resources.size() >= 12 && as_text(resources).starts_with("8BIM")) {
    const std::uint64_t number = number_of(resources.subspan(4, 2), ByteOrder::big);
    const std::uint64_t name = even(std::uint64_t{1} + resources[6]);
    if (6 + name + 4 > resources.size()) break;
    const std::uint64_t size = number_of(resources.subspan(6 + name, 4), ByteOrder::big);
    resources = resources.subspan(6 + name + 4);
    // Truncated data are used as far as they exist.
    if (number == kIptc) return resources.first(std::min<std::uint64_t>(size, resources.size()));
    if (even(size) > resources.size()) break;
    resources = resources.subspan(even(size));
  }
  return {};
}

}  // namespace millrace
