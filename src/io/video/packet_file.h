// Input: the packets of a shard, one by one, and a job's note about it.
// Output: a file that gets its name once it is complete; and the packets read back, in their order.
// Never: accepts a file that this program has not written so.
//
// The file consists of "MRFILM1\n", the packets' bytes, an index, the headers for decoders, the encoder's description,
// the job's note, and a footer. The index holds time, duration, size, flags and hash of each packet. The footer holds
// the sizes of all that and a hash of everything after the packets. Numbers are little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/io/file/atomic_file.h"
#include "src/io/video/video_encoder.h"

namespace millrace::video_file {

class PacketFileWriter {
 public:
  explicit PacketFileWriter(const std::string& path);

  void append(const EncodedPacket& packet);
  // Completes the file, writes it to the disk, and renames it.
  void commit(const StreamHeaders& encoded, const std::string& note);

 private:
  AtomicFile file_;
  std::string index_;
  std::uint64_t packets_ = 0, bytes_ = 0;
};

class PacketFileReader {
 public:
  // Returns Error(not_found, io, bad_data).
  static Outcome<PacketFileReader> open(const std::string& path);

  struct Entry {
    std::int64_t pts = 0, duration = 0;
    std::uint64_t offset = 0;
    std::uint32_t size = 0, side_bytes = 0;
    bool key = false;
    std::uint32_t hash = 0;  // of the packet's bytes
  };
  const std::vector<Entry>& entries() const { return entries_; }
  const StreamHeaders& encoded() const { return encoded_; }
  const std::string& note() const { return note_; }
  std::uint64_t bytes() const { return bytes_; }

  // Throws Failure(io, bad_data).
  EncodedPacket read(std::size_t k) const;

 private:
  std::string path_;
  Descriptor file_;
  std::vector<Entry> entries_;
  StreamHeaders encoded_;
  std::string note_;
  std::uint64_t bytes_ = 0;
};

}  // namespace millrace::video_file
