#include "src/io/video/packet_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "src/base/json.h"
#include "src/io/file/file_reader.h"

namespace millrace::video_file {
namespace {

constexpr std::string_view kFront = "MRFILM1\n";
constexpr std::size_t kEntryBytes = 32;

struct Footer {
  std::uint64_t packets = 0, data_bytes = 0, extradata = 0, description = 0, note = 0, hash = 0;
};

template <typename T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);  // this program runs on little-endian machines
  out.append(bytes, sizeof value);
}

template <typename T>
T take(const char*& at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  at += sizeof out;
  return out;
}

std::uint64_t hash_of(std::string_view text) {
  return short_hash(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

bool read_at(int fd, char* to, std::size_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const ssize_t n = ::pread(fd, to, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<std::size_t>(n);
    offset += static_cast<std::uint64_t>(n);
  }
  return true;
}

}  // namespace

PacketFileWriter::PacketFileWriter(const std::string& path) : file_(path) { file_.write(kFront); }

void PacketFileWriter::append(const EncodedPacket& packet) {
  file_.write(std::string_view(reinterpret_cast<const char*>(packet.data.data()), packet.data.size()));
  put(index_, packet.pts);
  put(index_, packet.duration);
  put(index_, static_cast<std::uint32_t>(packet.data.size()));
  put(index_, packet.side_bytes);
  put(index_, std::uint32_t{packet.key ? 1U : 0U});
  put(index_, static_cast<std::uint32_t>(short_hash(packet.data)));
  ++packets_;
  bytes_ += packet.data.size();
}

void PacketFileWriter::commit(const StreamHeaders& encoded, const std::string& note) {
  std::string tail = index_;
  tail.append(reinterpret_cast<const char*>(encoded.extradata.data()), encoded.extradata.size());
  tail += encoded.description;
  tail += note;
  const std::uint64_t hash = hash_of(tail);
  for (const std::uint64_t each : {packets_, bytes_, std::uint64_t{encoded.extradata.size()},
                                   std::uint64_t{encoded.description.size()}, std::uint64_t{note.size()}, hash})
    put(tail, each);
  file_.write(tail);
  file_.commit();
}

Outcome<PacketFileReader> PacketFileReader::open(const std::string& path) {
  const Error damaged{ErrorCode::bad_data, "it is incomplete or damaged", path, "remove it"};
  PacketFileReader out;
  out.path_ = path;
  out.file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!out.file_) return system_error("it cannot be opened", path, errno);
  struct stat about {};
  if (::fstat(out.file_.get(), &about) != 0 || !S_ISREG(about.st_mode)) return damaged;
  const auto size = static_cast<std::uint64_t>(about.st_size);
  Footer footer;
  if (size < kFront.size() + sizeof footer) return damaged;
  char bytes[sizeof footer];
  if (!read_at(out.file_.get(), bytes, sizeof bytes, size - sizeof bytes)) return damaged;
  std::memcpy(&footer, bytes, sizeof footer);
  const std::uint64_t room = size - kFront.size() - sizeof footer;
  constexpr std::uint64_t kMaxText = 1 << 24, kMaxPackets = 1 << 22;
  if (footer.data_bytes > room || footer.packets > std::min(room / kEntryBytes, kMaxPackets) ||
      footer.extradata > kMaxText || footer.description > kMaxText || footer.note > kMaxText)
    return damaged;
  const std::uint64_t tail_bytes = footer.packets * kEntryBytes + footer.extradata + footer.description + footer.note;
  if (footer.data_bytes + tail_bytes != room) return damaged;
  std::string tail(tail_bytes, '\0');
  if (!read_at(out.file_.get(), tail.data(), tail.size(), kFront.size() + footer.data_bytes)) return damaged;
  if (hash_of(tail) != footer.hash) return damaged;
  const char* at = tail.data();
  std::uint64_t offset = kFront.size();
  out.entries_.resize(footer.packets);
  for (Entry& entry : out.entries_) {
    entry.pts = take<std::int64_t>(at);
    entry.duration = take<std::int64_t>(at);
    entry.size = take<std::uint32_t>(at);
    entry.side_bytes = take<std::uint32_t>(at);
    entry.key = (take<std::uint32_t>(at) & 1U) != 0;
    entry.hash = take<std::uint32_t>(at);
    entry.offset = offset;
    offset += entry.size;
    if (offset > kFront.size() + footer.data_bytes || entry.side_bytes > entry.size) return damaged;
  }
  out.encoded_.extradata.assign(at, at + footer.extradata);
  at += footer.extradata;
  out.encoded_.description.assign(at, footer.description);
  at += footer.description;
  out.note_.assign(at, footer.note);
  out.bytes_ = footer.data_bytes;
  const auto about_encoder = Json::parse_or_null(out.encoded_.description);
  for (const auto& [key, to] : {std::pair<const char*, std::string*>{"encoder", &out.encoded_.encoder},
                                {"codec", &out.encoded_.codec},
                                {"pixels", &out.encoded_.pixels}}) {
    if (!about_encoder.is_object() || !about_encoder.contains(key) || !about_encoder.at(key).is_string())
      return damaged;
    *to = about_encoder.at(key).get<std::string>();
  }
  return out;
}

EncodedPacket PacketFileReader::read(std::size_t k) const {
  const Entry& entry = entries_.at(k);
  EncodedPacket out{entry.pts, entry.duration, entry.key, entry.side_bytes, {}};
  out.data.resize(entry.size);
  if (!read_at(file_.get(), reinterpret_cast<char*>(out.data.data()), out.data.size(), entry.offset))
    throw Failure(ErrorCode::io, "it cannot be read, or it became shorter", path_, "run the same command again");
  if (static_cast<std::uint32_t>(short_hash(out.data)) != entry.hash)
    throw Failure(ErrorCode::bad_data, "a packet in it is damaged", path_,
                  "remove this file, and run the same command again");
  return out;
}

}  // namespace millrace::video_file
