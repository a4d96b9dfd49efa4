#include "src/io/video/video_file.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/video/video_helper.h"

namespace millrace::video_file {
namespace {

Rational rational(const Json& value) {
  const Rational out{value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>()};
  return out.num < 0 || out.den <= 0 ? Rational{} : out;
}

void read_description(const Json& received, const Message& message, VideoFile& out) {
  out.library = escape_unprintable(received.at("library").get<std::string>());
  out.format = escape_unprintable(received.at("format").get<std::string>());
  received.read("writer", out.writer);
  received.read("chapters", out.chapters);
  received.read("stream", out.stream);
  for (const Json& each : received.at("streams")) {
    StreamInfo one;
    each.read("index", one.index);
    one.type = escape_unprintable(each.at("type").get<std::string>());
    one.codec = escape_unprintable(each.at("codec").get<std::string>());
    each.read("bit_rate", one.bit_rate);
    if (one.bit_rate < 0 || one.bit_rate > kMaxTime) one.bit_rate = 0;
    const Json& metadata = each.at("metadata");
    if (metadata.contains("language")) one.language = escape_unprintable(metadata.at("language").get<std::string>());
    out.streams.push_back(one);
    if (one.index != out.stream) continue;
    out.codec = one.codec;
    out.time_base = rational(each.at("time_base"));
    out.rate = rational(each.at("rate"));
    if (out.rate.num == 0) out.rate = rational(each.at("steady_rate"));
    each.read("rotation", out.rotation);
    if (out.rotation != 90 && out.rotation != 180 && out.rotation != 270 && out.rotation != 0) out.rotation = -1;
    if (!each.at("duration").is_null()) out.duration = each.at("duration").get<std::int64_t>();
    if (out.duration && (*out.duration <= 0 || *out.duration >= kMaxTime)) out.duration.reset();
    if (!out.duration && !received.at("duration").is_null() && out.time_base.num > 0) {
      constexpr double kContainerUnits = 1e6;
      out.duration = std::llround(received.at("duration").get<double>() / kContainerUnits / out.time_base.value());
    }
    each.read("frames", out.frames);
    if (out.frames == 0 && out.duration && *out.duration > 0)
      out.frames = static_cast<std::uint64_t>(std::ceil(out.seconds(*out.duration) * out.rate.value()));
  }
  for (const Json& each : received.at("beside")) out.beside.push_back(escape_unprintable(each.get<std::string>()));
  received.read("mastering", out.mastering);
  received.read("light", out.light);
  out.shape = message.shape;
  out.first = time_or_none(message.pts);
}

}  // namespace

VideoFile open_video(const std::string& path, int stream, Bytes memory, const std::function<bool()>& cancelled) {
  auto reader = FileReader::open(path, FileReader::Hashing::off).or_throw();
  VideoFile out;
  out.path = path;
  out.file = std::make_shared<const Descriptor>(reader->reopen().or_throw());
  const auto state = state_of_descriptor(out.file->get());
  if (!state) throw Failure(system_error("it cannot be examined", path, errno));
  out.state = *state;
  if (!out.state.regular)
    throw Failure(ErrorCode::unsupported, "not a regular file, and a video is read in several passes", path,
                  "save it to a file first");
  VideoHelper helper(path, 0, memory, cancelled);
  Message message;
  message.kind = MessageKind::probe;
  helper.send(message, Json({{"memory", memory.count}, {"stream", stream}}).dump(), nullptr, 0, out.file->get());
  VideoHelper::ReceivedMessage incoming;
  helper.receive(incoming);
  try {
    read_description(Json::parse(incoming.text), incoming.message, out);
  } catch (const Json::Error&) {
    throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", path, "");
  }
  if (out.stream < 0) throw Failure(ErrorCode::bad_data, "it has no video stream", path, "");
  if (out.first == kNoTime && incoming.message.shape.width == 0)
    throw Failure(ErrorCode::bad_data, "none of its frames can be decoded", path, "");
  if (out.time_base.num <= 0 || !is_possible(out.shape))
    throw Failure(ErrorCode::bad_data, "its frames have no timestamps or no size", path, "");
  return out;
}

}  // namespace millrace::video_file
