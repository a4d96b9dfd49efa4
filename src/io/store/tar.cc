#include "src/io/store/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace millrace {
namespace {

constexpr std::size_t kRecord = 512;

}  // namespace

void append_tar_record(std::string_view name, std::string_view bytes, std::vector<std::uint8_t>& out) {
  std::array<char, kRecord> header{};
  const auto put = [&](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  // Fields of ustar: name, mode, owner, group, size, time, checksum, kind, "ustar", version.
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", bytes.size()));
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  const auto sum = std::accumulate(header.begin(), header.end(), 0U,
                                   [](unsigned s, char c) { return s + static_cast<std::uint8_t>(c); });
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize(out.size() + (kRecord - bytes.size() % kRecord) % kRecord, 0);
}

std::string tar_end() { return std::string(2 * kRecord, '\0'); }

}  // namespace millrace
