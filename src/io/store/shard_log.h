// Input: rows of a shard that go into a temporary file, or that another process will write to one.
// Output: a log of these rows, from which a later run restores them.
// Never: returns a row that is not what was written.
//
// A log holds the rows of a shard in the order in which they came. Compressed rows are in the temporary file; the log
// holds only their length and XXH3. They follow each other in that file. Where the library has put data of its own
// between two, the next one is searched for. A log is used between two runs on one machine or similar ones: its numbers
// have this machine's representation.
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
// First bytes of all chunks of an array: they belong to one Huffman code, the same in all chunks.
using ChunkFront = std::uint64_t;

class ShardLog : public ShardWriter {
 public:
  // `whole`: the log holds compressed rows themselves; `digests_only`: only their length and XXH3.
  enum class Chunks : std::uint8_t { whole, digests_only };
  // `owner`: what the log belongs to, without a line break.
  ShardLog(std::string path, const std::string& owner, const DatasetSpec& spec, Chunks chunks);
  ~ShardLog() override;
  void append(const RowBlock& block) override;
  void finish() override;
  void commit() override { file_.commit(); }
  std::vector<FileDigest> digests() const override { return {file_.digest()}; }

  struct Hash;

 private:
  void write(std::span<const std::byte> bytes);

  AtomicFile file_;
  std::unique_ptr<Hash> hash_;
  std::optional<std::size_t> digest_array_;  // array whose chunks are `digests_only`
  std::uint64_t blocks_ = 0, rows_ = 0;      // bytes written so far; rows
  ChunkFront front_ = 0;
  std::vector<LoggedChunk> chunks_;
};

// A complete log with the expected owner and arrays.
class ShardLogReader {
 public:
  // Returns nullopt if there is no log, or it has another owner or is damaged.
  static std::optional<ShardLogReader> open(const std::string& path, const std::string& owner, const DatasetSpec& spec,
                                            ShardLog::Chunks chunks);

  std::uint64_t rows() const { return rows_; }
  // First bytes of the compressed rows that are not in the log.
  ChunkFront front() const { return front_; }
  const std::vector<LoggedChunk>& chunks() const { return chunks_; }
  // Reads the next rows; compressed rows that are not in the log stay empty. False after the last. Failure if the log
  // has changed since it was opened, or its rows do not fit the arrays.
  bool next(RowBlock& block);

 private:
  ShardLogReader() = default;
  void read(std::vector<std::uint8_t>& out, std::uint64_t bytes);
  [[noreturn]] void refuse() const;
  std::uint64_t number();

  std::string path_;
  Descriptor file_;
  std::uint64_t at_ = 0, end_ = 0, rows_ = 0;
  std::vector<ArraySpec> arrays_;
  std::optional<std::size_t> digest_array_;
  ChunkFront front_ = 0;
  std::vector<LoggedChunk> chunks_;
  std::vector<std::uint8_t> scratch_;
};

// Finds chunks in a file that was never finished.
class ChunkFinder {
 public:
  // A file that cannot be opened has no chunks.
  explicit ChunkFinder(const std::string& path);

  // Returns where each chunk begins; nullopt unless all are there. The search starts where the last chunk that was
  // found ended, then at the front.
  std::optional<std::vector<std::uint64_t>> find(ChunkFront front, std::span<const LoggedChunk> chunks);
  // Reads bytes that find() has found; false if they cannot be read any more.
  bool read(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::optional<std::uint64_t> next(std::uint64_t from, ChunkFront front, const LoggedChunk& chunk);
  bool is_at(std::uint64_t offset, const LoggedChunk& chunk);
  std::optional<std::vector<std::uint64_t>> find_from(std::uint64_t from, ChunkFront front,
                                                      std::span<const LoggedChunk> chunks);

  Descriptor file_;
  std::uint64_t size_ = 0;
  std::uint64_t end_ = 0;  // end of the chunks found last
  std::vector<std::uint8_t> bytes_;
};

}  // namespace millrace
