#include "src/io/video/video_muxer.h"

#include <fmt/format.h>

#include <array>

#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::video_file {
namespace {

struct Ending {
  std::string_view ending, container;
};
constexpr std::array<Ending, 5> kEndings = {
    {{".mp4", "mp4"}, {".m4v", "mp4"}, {".mov", "mov"}, {".mkv", "matroska"}, {".webm", "webm"}}};

}  // namespace

std::string container_of(const std::string& path) {
  const std::string name = lower_ascii(file_name(path));
  for (const Ending& each : kEndings)
    if (name.size() > each.ending.size() && name.ends_with(each.ending)) return std::string(each.container);
  return "";
}

std::string known_endings() {
  std::string out;
  for (const Ending& each : kEndings) out += (out.empty() ? "" : ", ") + std::string(each.ending);
  return out;
}

VideoMuxer::VideoMuxer(const VideoFile& film, const std::string& container, const std::string& codec, Bytes memory,
                       const std::function<bool()>& cancelled)
    : video_(film), process_(film.path, 0, memory, cancelled) {
  Message message;
  message.kind = MessageKind::mux;
  process_.send(message,
                Json({{"format", container},
                      {"codec", codec == "h265" ? "hevc" : codec},
                      {"stream", film.stream},
                      {"memory", memory.count}})
                    .dump(),
                nullptr, 0, film.file->get());
  VideoHelper::ReceivedMessage incoming;
  process_.receive(incoming);
  try {
    const Json received = Json::parse(incoming.text);
    for (const Json& each : received.at("left_out")) {
      dropped_streams_.push_back({{each.at("index").get<int>(), each.at("type").text(), each.at("codec").text(),
                                   each.at("language").text(), 0},
                                  each.at("why").text()});
    }
  } catch (const Json::Error&) {
    throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", film.path, "");
  }
}

std::string VideoMuxer::words_of(const DroppedStream& one) {
  if (one.stream.type == "rotation")
    return fmt::format("the rotation of the video is not written to this kind of file: {}", one.why);
  return fmt::format("stream {} ({}, {}{}) is not copied to the output: {}", one.stream.index,
                     escape_unprintable(one.stream.type), escape_unprintable(one.stream.codec),
                     one.stream.language.empty() ? "" : fmt::format(", {}", escape_unprintable(one.stream.language)),
                     escape_unprintable(one.why));
}

std::uint64_t VideoMuxer::run(const StreamHeaders& encoded, const FrameShape& shape, const TimeRange& cut,
                              const std::string& writer, const std::function<std::optional<TimedPacket>()>& next,
                              const std::function<void(std::uint64_t, std::span<const std::uint8_t>)>& write) {
  Json video = Json::parse(encoded.description);
  video["width"] = shape.width;
  video["height"] = shape.height;
  video["range"] = static_cast<std::uint32_t>(shape.colors.range) == 0 ? 0
                   : shape.colors.range == ColorRange::full            ? 2
                                                                       : 1;
  video["matrix"] = shape.colors.matrix;
  video["primaries"] = shape.colors.primaries;
  video["transfer"] = shape.colors.transfer;
  video["siting"] = shape.colors.siting;
  video["aspect"] = {shape.aspect_num, shape.aspect_den};
  video["mastering"] = video_.mastering;
  video["light"] = video_.light;
  video["writer"] = writer;
  video["start"] = cut.start ? Json(*cut.start) : Json();
  video["end"] = cut.end ? Json(*cut.end) : Json();
  Message message;
  message.kind = MessageKind::go_on;
  process_.send(message, video.dump(), encoded.extradata.data(), encoded.extradata.size());
  VideoHelper::ReceivedMessage incoming;
  while (true) {
    process_.receive(incoming, kMaxData);
    Message answer;
    switch (incoming.message.kind) {
      case MessageKind::want: {
        auto packet = next();
        answer.kind = packet ? MessageKind::packet : MessageKind::end;
        if (!packet) {
          process_.send(answer);
          break;
        }
        answer.pts = packet->packet.pts;
        answer.dts = packet->dts;
        answer.duration = packet->packet.duration;
        answer.key = packet->packet.key ? 1 : 0;
        answer.side_bytes = packet->packet.side_bytes;
        process_.send(answer, {}, packet->packet.data.data(), packet->packet.data.size());
        break;
      }
      case MessageKind::write:
        write(incoming.message.offset, incoming.data);
        break;
      case MessageKind::end:
        return incoming.message.errors;
      default:
        throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", process_.subject(), "");
    }
  }
}

}  // namespace millrace::video_file
