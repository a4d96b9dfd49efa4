#include "src/io/video/film_muxer.h"

#include <fmt/format.h>

#include <array>

#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::film {
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

FilmMuxer::FilmMuxer(const FilmFile& film, const std::string& container, const std::string& codec, Bytes memory,
                     const std::function<bool()>& cancelled)
    : film_(film), process_(film.path, 0, memory, cancelled) {
  Message message;
  message.say = Say::mux;
  process_.say(message,
               Json({{"format", container},
                     {"codec", codec == "h265" ? "hevc" : codec},
                     {"stream", film.stream},
                     {"memory", memory.count}})
                   .dump(),
               nullptr, 0, film.file->get());
  FilmProcess::Heard heard;
  process_.hear(heard);
  try {
    const Json said = Json::parse(heard.text);
    for (const Json& each : said.at("left_out")) {
      left_out_.push_back({{each.at("index").get<int>(), each.at("type").text(), each.at("codec").text(),
                            each.at("language").text(), 0},
                           each.at("why").text()});
    }
  } catch (const Json::Error&) {
    throw Failure(ErrorCode::crashed, "the helper for film says what no helper says", film.path, "");
  }
}

std::string FilmMuxer::words_of(const LeftOut& one) {
  if (one.stream.type == "rotation")
    return fmt::format("that the film is turned cannot be said in this kind of file: {}", one.why);
  return fmt::format("stream {}, {} in {}{}, cannot be carried over into this kind of file: {}", one.stream.index,
                     printable(one.stream.type), printable(one.stream.codec),
                     one.stream.language.empty() ? "" : fmt::format(" ({})", printable(one.stream.language)),
                     printable(one.why));
}

std::uint64_t FilmMuxer::run(const Encoded& encoded, const Shape& shape, const Cut& cut, const std::string& writer,
                             const std::function<std::optional<TimedPacket>()>& next,
                             const std::function<void(std::uint64_t, std::span<const std::uint8_t>)>& write) {
  Json video = Json::parse(encoded.description);
  video["width"] = shape.width;
  video["height"] = shape.height;
  video["range"] = static_cast<std::uint32_t>(shape.colors.range) == 0 ? 0 : shape.colors.range == Range::full ? 2 : 1;
  video["matrix"] = shape.colors.matrix;
  video["primaries"] = shape.colors.primaries;
  video["transfer"] = shape.colors.transfer;
  video["siting"] = shape.colors.siting;
  video["aspect"] = {shape.aspect_num, shape.aspect_den};
  video["mastering"] = film_.mastering;
  video["light"] = film_.light;
  video["writer"] = writer;
  video["start"] = cut.start ? Json(*cut.start) : Json();
  video["end"] = cut.end ? Json(*cut.end) : Json();
  Message message;
  message.say = Say::go_on;
  process_.say(message, video.dump(), encoded.extradata.data(), encoded.extradata.size());
  FilmProcess::Heard heard;
  while (true) {
    process_.hear(heard, kMostData);
    Message answer;
    switch (heard.message.say) {
      case Say::want: {
        auto packet = next();
        answer.say = packet ? Say::packet : Say::end;
        if (!packet) {
          process_.say(answer);
          break;
        }
        answer.pts = packet->packet.pts;
        answer.dts = packet->dts;
        answer.duration = packet->packet.duration;
        answer.key = packet->packet.key ? 1 : 0;
        answer.side_bytes = packet->packet.side_bytes;
        process_.say(answer, {}, packet->packet.data.data(), packet->packet.data.size());
        break;
      }
      case Say::write:
        write(heard.message.offset, heard.data);
        break;
      case Say::end:
        return heard.message.errors;
      default:
        throw Failure(ErrorCode::crashed, "the helper for film says what no helper says", process_.subject(), "");
    }
  }
}

}  // namespace millrace::film
