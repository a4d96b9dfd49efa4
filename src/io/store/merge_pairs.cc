#include "src/io/store/merge_pairs.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <queue>

#include "src/base/text.h"
#include "src/io/file/at_offset.h"
#include "src/io/file/atomic_file.h"
#include "src/io/tensor/npy.h"

namespace millrace {
namespace {

// Pieces of all files together.
constexpr std::size_t kPieces = std::size_t{64} << 20, kLeastPairs = 256, kMostPairs = std::size_t{1} << 16;

Descriptor opened(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) throw Failure(system_error("it cannot be read", printable(path), errno));
  return file;
}

std::uint64_t pairs_in(const std::string& path) {
  struct stat status {};
  const Descriptor file = opened(path);
  if (::fstat(file.get(), &status) != 0) throw Failure(system_error("it cannot be read", printable(path), errno));
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes % kPairRowBytes != 0) throw Failure(ErrorCode::bad_data, "it ends within a pair", printable(path));
  return bytes / kPairRowBytes;
}

// Opened for each piece: parts may be more than descriptors.
class PairsOfPart {
 public:
  PairsOfPart(std::string path, std::uint64_t pairs, std::size_t piece)
      : path_(std::move(path)), left_(pairs), piece_(piece) {}

  // i, then j.
  std::uint64_t key() const { return key_; }
  const std::byte* row() const { return piece_bytes_.data() + at_; }
  bool next() {
    if (began_) at_ += kPairRowBytes;
    if (at_ == piece_bytes_.size() && !fill()) return false;
    std::uint32_t i = 0, j = 0;
    std::memcpy(&i, row(), 4);
    std::memcpy(&j, row() + 4, 4);
    const std::uint64_t key = std::uint64_t{i} << 32 | j;
    if (began_ && key <= key_) throw Failure(ErrorCode::bad_data, "its pairs are not sorted", printable(path_));
    began_ = true;
    key_ = key;
    return true;
  }
  const std::string& path() const { return path_; }

 private:
  bool fill() {
    if (left_ == 0) return false;
    const std::uint64_t pairs = std::min<std::uint64_t>(left_, piece_);
    piece_bytes_.resize(pairs * kPairRowBytes);
    if (read_at(opened(path_).get(), offset_, piece_bytes_) != piece_bytes_.size()) {
      throw Failure(ErrorCode::conflict, "it was cut short meanwhile", printable(path_));
    }
    offset_ += piece_bytes_.size();
    left_ -= pairs;
    at_ = 0;
    return true;
  }

  const std::string path_;
  std::uint64_t left_, offset_ = 0, key_ = 0;
  const std::size_t piece_;
  std::size_t at_ = 0;
  bool began_ = false;
  std::vector<std::byte> piece_bytes_;
};

}  // namespace

void merge_pairs(const std::vector<std::string>& parts, const std::string& npy, const std::function<void()>& go_on) {
  std::uint64_t all = 0;
  std::vector<PairsOfPart> lists;
  const std::size_t piece =
      std::clamp(kPieces / kPairRowBytes / std::max<std::size_t>(1, parts.size()), kLeastPairs, kMostPairs);
  for (const std::string& path : parts) {
    const std::uint64_t pairs = pairs_in(path);
    all += pairs;
    if (pairs > 0) lists.emplace_back(path, pairs, piece);
  }
  const auto later = [](const PairsOfPart* a, const PairsOfPart* b) { return a->key() > b->key(); };
  std::priority_queue<PairsOfPart*, std::vector<PairsOfPart*>, decltype(later)> heap(later);
  for (PairsOfPart& list : lists) {
    if (list.next()) heap.push(&list);
  }
  AtomicFile out(npy, AtomicFile::Temporary::part);
  out.write(npy::header_text({{"i", kUint32}, {"j", kUint32}, {"distance", kUint8}}, std::vector<std::uint64_t>{all}));
  std::vector<std::byte> rows;
  rows.reserve(kMostPairs * kPairRowBytes);
  const PairsOfPart* before = nullptr;
  std::uint64_t last = 0;
  while (!heap.empty()) {
    PairsOfPart* list = heap.top();
    heap.pop();
    // As long as it has what comes next, it need not be asked for again.
    for (bool first = true; first || heap.empty() || list->key() < heap.top()->key(); first = false) {
      if (before != nullptr && list->key() == last) {
        throw Failure(ErrorCode::bad_data, "it has a pair that is in " + printable(before->path()) + " too",
                      printable(list->path()));
      }
      before = list;
      last = list->key();
      rows.insert(rows.end(), list->row(), list->row() + kPairRowBytes);
      if (rows.size() == kMostPairs * kPairRowBytes) {
        go_on();
        out.write(rows);
        rows.clear();
      }
      if (!list->next()) {
        list = nullptr;
        break;
      }
    }
    if (list != nullptr) heap.push(list);
  }
  out.write(rows);
  out.commit();
}

}  // namespace millrace
