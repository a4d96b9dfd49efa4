#include "src/io/store/chart_log.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "src/io/file/at_offset.h"
#include "src/io/file/reader.h"

namespace millrace {
namespace {

// What a library puts between two charts is far smaller; what is further away is not there.
constexpr std::uint64_t kFarthest = 64 << 20;
constexpr std::size_t kLookedAt = 1 << 20;

ChartFront front_of(const std::uint8_t* chart, std::size_t bytes) {
  ChartFront out = 0;
  std::memcpy(&out, chart, std::min(bytes, sizeof out));
  return out;
}

}  // namespace

ChartLog::ChartLog(std::string path, const std::string& owner) : file_(std::move(path), AtomicFile::Temporary::part) {
  file_.write(owner + "\n");
}

void ChartLog::append(const ChartBlock& block) {
  const std::uint8_t* chart = block.images.data();
  for (const std::uint32_t bytes : block.image_bytes) {
    if (charts_.empty()) front_ = front_of(chart, bytes);
    charts_.push_back({bytes, XXH3_64bits(chart, bytes)});
    chart += bytes;
  }
}

void ChartLog::finish() {
  const std::array<std::uint64_t, 3> said{charts_.size(),
                                          XXH3_64bits(charts_.data(), charts_.size() * sizeof(LoggedChart)), front_};
  file_.write(std::as_bytes(std::span(said)));
  file_.write(std::as_bytes(std::span(charts_)));
}

std::optional<ChartRecord> read_chart_log(const std::string& path, const std::string& owner) {
  const Outcome<std::string> text = read_text(path);
  if (!text || !text->starts_with(owner + "\n")) return std::nullopt;
  std::array<std::uint64_t, 3> said{};
  std::string_view rest(*text);
  rest.remove_prefix(owner.size() + 1);
  if (rest.size() < sizeof said) return std::nullopt;
  std::memcpy(said.data(), rest.data(), sizeof said);
  rest.remove_prefix(sizeof said);
  if (rest.size() % sizeof(LoggedChart) != 0 || rest.size() / sizeof(LoggedChart) != said[0] ||
      XXH3_64bits(rest.data(), rest.size()) != said[1]) {
    return std::nullopt;
  }
  ChartRecord out;
  out.front = said[2];
  out.charts.resize(said[0]);
  if (!rest.empty()) std::memcpy(out.charts.data(), rest.data(), rest.size());
  return out;
}

ChartFinder::ChartFinder(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
ChartFinder::~ChartFinder() {
  if (fd_ >= 0) ::close(fd_);
}

bool ChartFinder::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  return read_at(fd_, offset, std::as_writable_bytes(out)) == out.size();
}

bool ChartFinder::is_at(std::uint64_t offset, const LoggedChart& chart) {
  bytes_.resize(chart.bytes);
  return read(offset, bytes_) && XXH3_64bits(bytes_.data(), bytes_.size()) == chart.hash;
}

std::optional<std::uint64_t> ChartFinder::next(std::uint64_t from, ChartFront front, const LoggedChart& chart) {
  if (is_at(from, chart)) return from;
  std::vector<std::uint8_t> window(kLookedAt);
  for (std::uint64_t at = from; at < from + kFarthest; at += kLookedAt - sizeof front) {
    const std::size_t there = read_at(fd_, at, std::as_writable_bytes(std::span(window)));
    if (there < sizeof front) return std::nullopt;
    for (std::size_t i = 0; i + sizeof front <= there; ++i) {
      if (front_of(window.data() + i, sizeof front) == front && is_at(at + i, chart)) return at + i;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> ChartFinder::find_from(std::uint64_t from, const ChartRecord& record) {
  std::vector<std::uint64_t> out;
  for (const LoggedChart& chart : record.charts) {
    const auto at = next(from, record.front, chart);
    if (!at) return std::nullopt;
    out.push_back(*at);
    from = *at + chart.bytes;
  }
  end_ = from;
  return out;
}

std::optional<std::vector<std::uint64_t>> ChartFinder::find(const ChartRecord& record) {
  if (fd_ < 0) return std::nullopt;
  auto out = find_from(end_, record);
  if (!out && end_ > 0) out = find_from(0, record);
  return out;
}

}  // namespace millrace
