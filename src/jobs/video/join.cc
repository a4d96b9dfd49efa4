#include "src/jobs/video/join.h"

#include <algorithm>
#include <deque>

#include "src/io/file/atomic_file.h"

namespace millrace::video {
namespace {

std::vector<std::int64_t> shown_times(const film::PacketFileReader& packets) {
  std::vector<std::int64_t> out;
  for (const auto& each : packets.entries()) out.push_back(each.pts);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Joined join(Segments& segments, Setup& setup, const std::string& name, const std::string& writer,
            const std::function<void()>& go_on) {
  Joined out;
  // Largest number of packets that precede a packet shown earlier, as decoders hold so many frames. The decoding time
  // of a packet is the display time of the frame so many places before it.
  std::size_t delay = 0;
  std::optional<film::Encoded> encoded;
  std::vector<std::int64_t> first;
  {
    Pieces pieces(segments);
    while (const auto piece = pieces.next()) {
      go_on();
      const auto times = shown_times(piece->packets);
      std::size_t k = 0;
      for (const auto& entry : piece->packets.entries()) {
        const auto rank =
            static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), entry.pts) - times.begin());
        if (k > rank) delay = std::max(delay, k - rank);
        ++k;
      }
      if (first.size() < 2)
        first.insert(first.end(), times.begin(), times.begin() + std::min<long>(2, static_cast<long>(times.size())));
      if (!encoded) encoded = piece->packets.encoded();
      if (encoded->description != piece->packets.encoded().description ||
          encoded->extradata != piece->packets.encoded().extradata) {
        throw Failure(ErrorCode::conflict, "two pieces of the film were encoded by encoders that are not alike",
                      segments.path(0), "remove the folder of pieces, and run the same command again");
      }
    }
  }
  AtomicFile file(segments.path(name));
  Pieces pieces(segments);
  std::optional<Segments::Piece> piece;
  std::size_t k = 0;
  std::deque<std::int64_t> decoding;  // decoding times of the next packets
  constexpr std::int64_t kMostStep = std::int64_t{1} << 40;
  const std::int64_t step = first.size() > 1 ? std::clamp<std::int64_t>(first[1] - first[0], 1, kMostStep) : 1;
  for (std::size_t i = delay; i > 0 && !first.empty(); --i)
    decoding.push_back(first[0] - static_cast<std::int64_t>(i) * step);
  const auto next = [&]() -> std::optional<film::FilmMuxer::TimedPacket> {
    while (!piece || k == piece->packets.entries().size()) {
      piece = pieces.next();
      if (!piece) return std::nullopt;
      k = 0;
      for (const std::int64_t time : shown_times(piece->packets)) decoding.push_back(time);
    }
    go_on();
    film::FilmMuxer::TimedPacket packet{piece->packets.read(k++), decoding.front()};
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
