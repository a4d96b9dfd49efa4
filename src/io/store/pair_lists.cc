#include "src/io/store/pair_lists.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <queue>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/positional_io.h"
#include "src/io/file/running_hash.h"

namespace millrace {

namespace {

// Record after the pairs.
struct End {
  std::uint64_t pairs = 0, hash = 0;
};
constexpr std::size_t kPieceOfList = 8192, kPieceOfOutput = std::size_t{1} << 16;

// Returns the end record; nullopt if there is no file (with errno), or it is no list.
std::optional<End> end_of(int fd) {
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  End end;
  if (bytes < sizeof(End) ||
      read_at(fd, bytes - sizeof(End), std::as_writable_bytes(std::span(&end, 1))) != sizeof(End) ||
      end.pairs != (bytes - sizeof(End)) / kPairRowBytes || (bytes - sizeof(End)) % kPairRowBytes != 0) {
    return std::nullopt;
  }
  return end;
}

Descriptor opened(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
}

// A list that is opened for each block: there may be more lists than descriptors. It holds a block only after its first
// pair was taken.
class PairList {
 public:
  explicit PairList(std::string path) : path_(std::move(path)) {
    const Descriptor file = opened(path_);
    if (!file) throw Failure(system_error("it cannot be read", escape_unprintable(path_), errno));
    const auto end = end_of(file.get());
    if (!end) refuse("it differs from the list that a run wrote");
    end_ = *end;
    left_ = end_.pairs;
    if (left_ == 0) return;
    std::byte first[kPairRowBytes];
    if (read_at(file.get(), 0, first) != sizeof(first)) refuse("it became shorter during the run");
    key_ = key_of(first);
  }

  bool empty() const { return left_ == 0; }
  std::uint64_t left() const { return left_; }
  // Sort key of the next pair: i in the upper 32 bits, j in the lower.
  std::uint64_t key() const { return key_; }
  const std::string& path() const { return path_; }
  // Appends the next pair's bytes to `out` and advances.
  void take(std::vector<std::byte>& out) {
    if (at_ == piece_.size()) fill();
    const std::byte* const row = piece_.data() + at_;
    const std::uint64_t key = key_of(row);
    if (key >> 32 >= (key & 0xFFFFFFFFu) || (taken_ && key <= last_)) refuse("its pairs are not sorted");
    taken_ = true;
    last_ = key;
    out.insert(out.end(), row, row + kPairRowBytes);
    at_ += kPairRowBytes;
    if (--left_ == 0) return finish();
    if (at_ == piece_.size()) fill();
    key_ = key_of(piece_.data() + at_);
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Failure(ErrorCode::bad_data, what, escape_unprintable(path_),
                  "remove it, and run its shard again; a run without --part computes all missing shards");
  }
  static std::uint64_t key_of(const std::byte* row) {
    std::uint32_t i = 0, j = 0;
    std::memcpy(&i, row, 4);
    std::memcpy(&j, row + 4, 4);
    return std::uint64_t{i} << 32 | j;
  }
  void fill() {
    if (!hash_) hash_.emplace();
    piece_.resize(std::min<std::uint64_t>(left_, kPieceOfList) * kPairRowBytes);
    if (read_at(opened(path_).get(), offset_, piece_) != piece_.size()) refuse("it became shorter during the run");
    hash_->update(piece_);
    offset_ += piece_.size();
    at_ = 0;
  }
  void finish() {
    if (hash_->digest() != end_.hash) refuse("it differs from the list that a run wrote");
    hash_.reset();
    piece_ = {};
  }

  const std::string path_;
  End end_;
  std::uint64_t left_ = 0, offset_ = 0, key_ = 0, last_ = 0;
  std::size_t at_ = 0;
  bool taken_ = false;
  std::optional<RunningHash> hash_;
  std::vector<std::byte> piece_;
};

}  // namespace

struct PairListWriter::Hash : RunningHash {};

const std::vector<npy::Field>& pair_fields() {
  static const std::vector<npy::Field> fields = {{"i", kUint32}, {"j", kUint32}, {"distance", kUint8}};
  return fields;
}

PairListWriter::PairListWriter(std::string path)
    : file_(path, AtomicFile::ShardOptions{folder_of(folder_of(path)), true}), hash_(std::make_unique<Hash>()) {}
PairListWriter::~PairListWriter() = default;

void PairListWriter::append(std::span<const std::byte> rows) {
  hash_->update(rows);
  pairs_ += rows.size() / kPairRowBytes;
  file_.write(rows);
}

void PairListWriter::finish() {
  const End end{pairs_, hash_->digest()};
  file_.write(std::as_bytes(std::span(&end, 1)));
}

bool is_pair_list(const std::string& path) { return end_of(opened(path).get()).has_value(); }

FileDigest merge_pair_lists(const std::vector<std::string>& paths, const std::string& npy,
                            const std::function<void()>& check_cancelled) {
  std::vector<std::unique_ptr<PairList>> lists;
  std::uint64_t all = 0;
  for (const std::string& path : paths) {
    check_cancelled();
    lists.push_back(std::make_unique<PairList>(path));
    all += lists.back()->left();
  }
  const auto later = [](const PairList* a, const PairList* b) { return a->key() > b->key(); };
  std::priority_queue<PairList*, std::vector<PairList*>, decltype(later)> heap(later);
  for (const auto& list : lists) {
    if (!list->empty()) heap.push(list.get());
  }
  AtomicFile out(npy, AtomicFile::ShardOptions{folder_of(folder_of(npy))});
  out.write(npy::header_text(pair_fields(), std::vector<std::uint64_t>{all}));
  std::vector<std::byte> rows;
  rows.reserve(kPieceOfOutput * kPairRowBytes);
  const PairList* before = nullptr;
  std::uint64_t last = 0;
  while (!heap.empty()) {
    PairList* const list = heap.top();
    heap.pop();
    // While this list has the next pair, it does not go back to the heap.
    do {
      if (before != nullptr && before != list && list->key() == last) {
        throw Failure(ErrorCode::bad_data, "it has a pair that is also in " + escape_unprintable(before->path()),
                      escape_unprintable(list->path()), "remove both, and run their shards again");
      }
      before = list;
      last = list->key();
      list->take(rows);
      if (rows.size() == kPieceOfOutput * kPairRowBytes) {
        check_cancelled();
        out.write(rows);
        rows.clear();
      }
    } while (!list->empty() && (heap.empty() || list->key() < heap.top()->key()));
    if (!list->empty()) heap.push(list);
  }
  out.write(rows);
  out.commit();
  return out.digest();
}

}  // namespace millrace
