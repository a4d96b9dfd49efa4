#include "src/jobs/video/join.h"

#include <algorithm>
#include <deque>

#include "src/io/file/atomic_file.h"

namespace millrace::video {
namespace {

std::vector<std::int64_t> shown_times(const video_file::PacketFileReader& packets) {
  std::vector<std::int64_t> out;
  for (const auto& each : packets.entries()) out.push_back(each.pts);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

JoinResult join(ShardFolder& shards, Setup& setup, const std::string& name, const std::string& writer,
                const std::function<void()>& check_cancelled) {
  JoinResult out;
  // Largest number of packets that precede a packet shown earlier, as decoders hold so many frames. The decoding time
  // of a packet is the display time of the frame so many places before it.
  std::size_t delay = 0;
  std::optional<video_file::StreamHeaders> encoded;
  std::vector<std::int64_t> first;
  {
    ShardIterator iterator(shards);
    while (const auto shard = iterator.next()) {
      check_cancelled();
      const auto times = shown_times(shard->packets);
      std::size_t k = 0;
      for (const auto& entry : shard->packets.entries()) {
        const auto rank =
            static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), entry.pts) - times.begin());
        if (k > rank) delay = std::max(delay, k - rank);
        ++k;
      }
      if (first.size() < 2)
        first.insert(first.end(), times.begin(), times.begin() + std::min<long>(2, static_cast<long>(times.size())));
      if (!encoded) encoded = shard->packets.encoded();
      if (encoded->description != shard->packets.encoded().description ||
          encoded->extradata != shard->packets.encoded().extradata) {
        throw Failure(ErrorCode::conflict, "two shards of the video were encoded by different encoders", shards.path(0),
                      "remove the folder of shards, and run the same command again");
      }
    }
  }
  AtomicFile file(shards.path(name));
  ShardIterator iterator(shards);
  std::optional<ShardFolder::Shard> shard;
  std::size_t k = 0;
  std::deque<std::int64_t> decoding;  // decoding times of the next packets
  constexpr std::int64_t kMaxStep = std::int64_t{1} << 40;
  const std::int64_t step = first.size() > 1 ? std::clamp<std::int64_t>(first[1] - first[0], 1, kMaxStep) : 1;
  for (std::size_t i = delay; i > 0 && !first.empty(); --i)
    decoding.push_back(first[0] - static_cast<std::int64_t>(i) * step);
  const auto next = [&]() -> std::optional<video_file::VideoMuxer::TimedPacket> {
    while (!shard || k == shard->packets.entries().size()) {
      shard = iterator.next();
      if (!shard) return std::nullopt;
      k = 0;
      for (const std::int64_t time : shown_times(shard->packets)) decoding.push_back(time);
    }
    check_cancelled();
    video_file::VideoMuxer::TimedPacket packet{shard->packets.read(k++), decoding.front()};
    decoding.pop_front();
    return packet;
  };
  out.moved = setup.muxer->run(*encoded, setup.composition.made, {setup.cut.start, setup.cut.end}, writer, next,
                               [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
                                 file.write_at(offset, std::as_bytes(bytes));
                                 out.bytes = std::max(out.bytes, offset + bytes.size());
                               });
  file.commit();
  return out;
}

}  // namespace millrace::video
