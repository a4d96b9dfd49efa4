// Describes a file, and the shape and time of its first frame.
#include <fmt/format.h>

#include <cmath>

#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

Json rational(AVRational value) { return Json::array({value.num, value.den}); }

// Keys and values may be any bytes; invalid UTF-8 is replaced when they are written as JSON.
Json metadata_of(const AVDictionary* metadata) {
  constexpr std::size_t kMaxEntries = 1000;
  Json out = Json::object();
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(metadata, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr && out.size() < kMaxEntries)
    out[entry->key] = entry->value;
  return out;
}

const char* type_name(AVMediaType type) {
  const char* name = av_get_media_type_string(type);
  return name == nullptr ? "unknown" : name;
}

Json describe(const AVStream& stream) {
  const AVCodecParameters& codec = *stream.codecpar;
  Json out = {{"index", stream.index},
              {"type", type_name(codec.codec_type)},
              {"codec", avcodec_get_name(codec.codec_id)},
              {"time_base", rational(stream.time_base)},
              {"start", stream.start_time == AV_NOPTS_VALUE ? Json() : Json(stream.start_time)},
              {"duration", stream.duration == AV_NOPTS_VALUE ? Json() : Json(stream.duration)},
              {"frames", stream.nb_frames},
              {"bit_rate", codec.bit_rate},
              {"default", (stream.disposition & AV_DISPOSITION_DEFAULT) != 0},
              {"picture", (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0},
              {"metadata", metadata_of(stream.metadata)}};
  if (codec.codec_type != AVMEDIA_TYPE_VIDEO) return out;
  out["width"] = codec.width;
  out["height"] = codec.height;
  out["rate"] = rational(stream.avg_frame_rate);
  out["steady_rate"] = rational(stream.r_frame_rate);
  out["rotation"] = rotation_of(stream);
  out["aspect"] =
      rational(stream.sample_aspect_ratio.num != 0 ? stream.sample_aspect_ratio : codec.sample_aspect_ratio);
  out["decodable"] = avcodec_find_decoder(codec.codec_id) != nullptr;
  return out;
}

int main_stream(const Input& input) {
  int best = -1;
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    const AVStream& stream = *input->streams[i];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_VIDEO || (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
      continue;
    // The default stream wins, else the one with the most pixels, and the first of equal ones.
    const auto worth = [](const AVStream& one) {
      return std::pair((one.disposition & AV_DISPOSITION_DEFAULT) != 0 ? 1 : 0,
                       static_cast<std::int64_t>(one.codecpar->width) * one.codecpar->height);
    };
    if (best < 0 || worth(stream) > worth(*input->streams[best])) best = static_cast<int>(i);
  }
  return best;
}

void describe_side_data(const AVFrame& frame, Json& out) {
  for (int i = 0; i < frame.nb_side_data; ++i) {
    const AVFrameSideData& one = *frame.side_data[i];
    const auto hex = [&] {
      std::string text;
      for (std::size_t k = 0; k < one.size; ++k) text += fmt::format("{:02x}", one.data[k]);
      return text;
    };
    switch (one.type) {
      case AV_FRAME_DATA_MASTERING_DISPLAY_METADATA:
        out["mastering"] = hex();
        break;
      case AV_FRAME_DATA_CONTENT_LIGHT_LEVEL:
        out["light"] = hex();
        break;
      case AV_FRAME_DATA_A53_CC:
        out["beside"].push_back("closed captions");
        break;
      case AV_FRAME_DATA_DYNAMIC_HDR_PLUS:
        out["beside"].push_back("HDR10+");
        break;
      case AV_FRAME_DATA_DOVI_METADATA:
      case AV_FRAME_DATA_DOVI_RPU_BUFFER:
        if (Json& beside = out["beside"]; beside.empty() || beside[beside.size() - 1] != "Dolby Vision")
          beside.push_back("Dolby Vision");
        break;
      case AV_FRAME_DATA_S12M_TIMECODE:
      case AV_FRAME_DATA_GOP_TIMECODE:
        out["beside"].push_back("time codes");
        break;
      default:
        break;
    }
  }
}

// Decodes until the first frame, and describes it.
void describe_first_frame(Input& input, int index, Message& message, Json& out) {
  for (unsigned i = 0; i < input->nb_streams; ++i)
    if (static_cast<int>(i) != index) input->streams[i]->discard = AVDISCARD_ALL;
  const CodecContext decoder = open_decoder(*input->streams[index], 1);
  const Packet packet = make_packet();
  const Frame frame = make_frame();
  bool ended = false;
  while (true) {
    const int error = avcodec_receive_frame(decoder.get(), frame.get());
    if (error == 0) {
      message.shape = shape_of(*frame);
      message.pts = frame->best_effort_timestamp;
      describe_side_data(*frame, out);
      return;
    }
    if (error == AVERROR_EOF || (error != AVERROR(EAGAIN) && ended)) return;
    if (ended || !input.next(*packet)) {
      ended = true;
      avcodec_send_packet(decoder.get(), nullptr);
      continue;
    }
    // Packets that cannot be decoded are ignored here; they are counted when the whole video is decoded.
    if (packet->stream_index == index) avcodec_send_packet(decoder.get(), packet.get());
    av_packet_unref(packet.get());
  }
}

}  // namespace

void probe(Channel& channel, int fd, const Json& what) {
  Input input(fd);
  Json out = {{"library", std::string("FFmpeg ") + av_version_info()},
              {"format", input->iformat->name},
              {"start", input->start_time == AV_NOPTS_VALUE ? Json() : Json(input->start_time)},
              {"duration", input->duration == AV_NOPTS_VALUE ? Json() : Json(input->duration)},
              {"chapters", input->nb_chapters},
              {"metadata", metadata_of(input->metadata)},
              {"streams", Json::array()}};
  const AVDictionaryEntry* writer = av_dict_get(input->metadata, "encoder", nullptr, 0);
  out["writer"] = writer == nullptr ? "" : writer->value;
  for (unsigned i = 0; i < input->nb_streams; ++i) out["streams"].push_back(describe(*input->streams[i]));
  Message message;
  message.kind = MessageKind::text;
  message.pts = kNoTime;
  const int stream = what.value("stream", -1) >= 0 ? what.value("stream", -1) : main_stream(input);
  out["stream"] = stream;
  out["beside"] = Json::array();
  out["mastering"] = out["light"] = "";
  if (stream >= static_cast<int>(input->nb_streams)) fail("it has no such stream", 0);
  if (stream >= 0 && input->streams[stream]->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
    fail("this stream is not a video stream", 0);
  if (stream >= 0) describe_first_frame(input, stream, message, out);
  channel.send(message, out.dump());
}

}  // namespace millrace::video_file
