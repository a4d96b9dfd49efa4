#include "src/io/store/chart_log.h"

#include <xxhash.h>

#include <array>
#include <cstring>
#include <fstream>
#include <span>

namespace millrace {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

// Longer than any block: what says so is damaged.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 34;

template <typename T>
void put(const T& value, Bytes8& out) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}
template <typename T>
void put_all(std::span<const T> values, Bytes8& out) {
  put(std::uint64_t{values.size()}, out);
  const std::size_t at = out.size();
  out.resize(at + values.size_bytes());
  if (!values.empty()) std::memcpy(out.data() + at, values.data(), values.size_bytes());
}

// Its bytes were written by put(), as their hash says.
struct Reading {
  const std::uint8_t* at;
  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  }
  template <typename Vector>
  void get_all(Vector& out) {
    out.resize(get<std::uint64_t>());
    const std::size_t bytes = out.size() * sizeof(out[0]);
    if (bytes > 0) std::memcpy(out.data(), at, bytes);
    at += bytes;
  }
};

std::string_view text_of(const Bytes8& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
using Record = std::array<std::uint64_t, 2>;  // length and hash
std::string_view text_of(const Record& record) { return {reinterpret_cast<const char*>(record.data()), sizeof record}; }

}  // namespace

ChartLog::ChartLog(std::string path, const std::string& owner) : file_(std::move(path), AtomicFile::Temporary::part) {
  file_.write(owner + "\n");
}

void ChartLog::append(const ChartBlock& block) {
  bytes_.clear();
  put_all(std::span(block.images), bytes_);
  put_all(std::span(block.image_bytes), bytes_);
  put_all(std::span(block.sequences), bytes_);
  put_all(std::span(block.labels), bytes_);
  put(std::uint64_t{block.places.size()}, bytes_);
  for (const ChartBlock::Place& place : block.places) {
    put(place.file, bytes_);
    put(place.row, bytes_);
    put_all(std::span(place.date), bytes_);
  }
  file_.write(text_of(Record{bytes_.size(), XXH3_64bits(bytes_.data(), bytes_.size())}));
  file_.write(text_of(bytes_));
}

void ChartLog::finish() { file_.write(text_of(Record{0, 0})); }

bool read_chart_log(const std::string& path, const std::string& owner,
                    const std::function<void(const ChartBlock&)>& each) {
  std::ifstream file(path, std::ios::binary);
  std::string line(owner.size() + 1, '\0');
  if (!file.read(line.data(), static_cast<std::streamsize>(line.size())) || line != owner + "\n") return false;
  Bytes8 bytes;
  ChartBlock block;
  for (;;) {
    Record record{};
    if (!file.read(reinterpret_cast<char*>(record.data()), sizeof record) || record[0] > kLongest) return false;
    if (record[0] == 0) return record[1] == 0;
    bytes.resize(record[0]);
    if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) return false;
    if (XXH3_64bits(bytes.data(), bytes.size()) != record[1]) return false;
    Reading reading{bytes.data()};
    reading.get_all(block.images);
    reading.get_all(block.image_bytes);
    reading.get_all(block.sequences);
    reading.get_all(block.labels);
    block.places.resize(reading.get<std::uint64_t>());
    for (ChartBlock::Place& place : block.places) {
      place.file = reading.get<std::uint32_t>();
      place.row = reading.get<std::uint64_t>();
      reading.get_all(place.date);
    }
    each(block);
  }
}

}  // namespace millrace
