// Input: a part's rows as they go into a file that is not whole before its last one; or rows of a part of such a file
//   that another process will write.
// Output: a log of them, from which a later run takes them.
// Never: gives out a row that is not what was written.
//
// A log holds the rows of a part as they came, but of compressed rows, where they lie in the unfinished file, only
// length and XXH3: they follow on each other there, and where the library has put something of its own between two, the
// next one is searched for. It stays on one machine or its like, between two runs: numbers are as this machine has
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/atomic_file.h"
#include "src/io/store/dataset.h"

namespace millrace {

struct LoggedChunk {
  std::uint64_t bytes, hash;
};
// What all chunks of an array begin with: their first bytes are those of one Huffman code.
using ChunkFront = std::uint64_t;

class PartLog : public PartWriter {
 public:
  // Compressed rows themselves, or what tells them.
  enum class Chunks : std::uint8_t { whole, told };
  // `owner` without a line break: what the log is of.
  PartLog(std::string path, const std::string& owner, const DatasetSpec& spec, Chunks chunks);
  ~PartLog() override;
  void append(const RowBlock& block) override;
  void finish() override;
  void commit() override { file_.commit(); }
  std::vector<FileDigest> digests() const override { return {file_.digest()}; }

  struct Hash;

 private:
  void write(std::span<const std::byte> bytes);

  AtomicFile file_;
  std::unique_ptr<Hash> hash_;
  std::optional<std::size_t> told_;      // the array of which chunks are told
  std::uint64_t blocks_ = 0, rows_ = 0;  // bytes up to here; rows
  ChunkFront front_ = 0;
  std::vector<LoggedChunk> chunks_;
};

// A log that is whole and has this owner and these arrays.
class LoggedPart {
 public:
  // Nothing where there is none, or it is another's or damaged.
  static std::optional<LoggedPart> open(const std::string& path, const std::string& owner, const DatasetSpec& spec,
                                        PartLog::Chunks chunks);

  std::uint64_t rows() const { return rows_; }
  // Of compressed rows that are not in it.
  ChunkFront front() const { return front_; }
  const std::vector<LoggedChunk>& chunks() const { return chunks_; }
  // The next rows; compressed rows that are not in it stay empty. False behind the last. Failure where the log has
  // changed since it was opened, or its rows are not those of such arrays.
  bool next(RowBlock& block);

 private:
  LoggedPart() = default;
  void read(std::vector<std::uint8_t>& out, std::uint64_t bytes);
  [[noreturn]] void refuse() const;
  std::uint64_t number();

  std::string path_;
  Descriptor file_;
  std::uint64_t at_ = 0, end_ = 0, rows_ = 0;
  std::vector<ArraySpec> arrays_;
  std::optional<std::size_t> told_;
  ChunkFront front_ = 0;
  std::vector<LoggedChunk> chunks_;
  std::vector<std::uint8_t> scratch_;
};

// Chunks in a file that was never finished.
class ChunkFinder {
 public:
  // A file that cannot be opened holds none.
  explicit ChunkFinder(const std::string& path);

  // Where each chunk begins; nothing unless all are there. Searched from where the last one that was found ended, then
  // from the front.
  std::optional<std::vector<std::uint64_t>> find(ChunkFront front, std::span<const LoggedChunk> chunks);
  // Bytes that find() has found; false where they cannot be read any more.
  bool read(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::optional<std::uint64_t> next(std::uint64_t from, ChunkFront front, const LoggedChunk& chunk);
  bool is_at(std::uint64_t offset, const LoggedChunk& chunk);
  std::optional<std::vector<std::uint64_t>> find_from(std::uint64_t from, ChunkFront front,
                                                      std::span<const LoggedChunk> chunks);

  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint64_t end_ = 0;  // of what was found last
  std::vector<std::uint8_t> bytes_;
};

}  // namespace millrace
