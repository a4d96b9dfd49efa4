// Writes a container from one stream of packets that the program sends, and from all other streams of a file unchanged.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

// Metadata in which a container describes itself. They are different for the new container.
constexpr const char* kOfContainer[] = {"major_brand", "minor_version", "compatible_brands", "encoder"};

void copy_metadata(AVDictionary** to, const AVDictionary* from) {
  av_dict_copy(to, from, 0);
  for (const char* key : kOfContainer) av_dict_set(to, key, nullptr, 0);
}

// A muxer that writes to the program, or nowhere.
class Output {
 public:
  Output(const std::string& format, Channel* channel) : channel_(channel) {
    check(avformat_alloc_output_context2(&context_, nullptr, format.c_str(), nullptr),
          fmt::format("no writer is available for {}", format));
    constexpr int kBuffer = 1 << 20;
    auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
    io_ = buffer == nullptr ? nullptr
                            : avio_alloc_context(buffer, kBuffer, 1, this, nullptr, &Output::write, &Output::seek);
    if (io_ == nullptr) throw std::bad_alloc();
    context_->pb = io_;
    // Makes the output reproducible: no current time, no random numbers.
    context_->flags |= AVFMT_FLAG_BITEXACT;
    // Packets before the first frame's time, such as sound that primes a decoder, have negative times, which are kept.
    context_->avoid_negative_ts = 0;
  }
  ~Output() {
    if (io_ != nullptr) av_freep(&io_->buffer);
    avio_context_free(&io_);
    avformat_free_context(context_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  AVFormatContext* operator->() const { return context_; }
  AVFormatContext* get() const { return context_; }
  void flush() { avio_flush(io_); }

  AVStream& add_stream() {
    AVStream* out = avformat_new_stream(context_, nullptr);
    if (out == nullptr) throw std::bad_alloc();
    return *out;
  }

 private:
  static int write(void* self, std::uint8_t* data, int bytes) {
    auto& output = *static_cast<Output*>(self);
    if (output.channel_ != nullptr) {
      Message message;
      message.kind = MessageKind::write;
      message.offset = static_cast<std::uint64_t>(output.at_);
      output.channel_->send(message, {}, data, static_cast<std::size_t>(bytes));
    }
    output.at_ += bytes;
    output.size_ = std::max(output.size_, output.at_);
    return bytes;
  }
  static std::int64_t seek(void* self, std::int64_t offset, int whence) {
    auto& output = *static_cast<Output*>(self);
    if ((whence & ~AVSEEK_FORCE) == AVSEEK_SIZE) return output.size_;
    if (whence == SEEK_CUR) offset += output.at_;
    if (whence == SEEK_END) offset += output.size_;
    if (offset < 0) return AVERROR(EINVAL);
    return output.at_ = offset;
  }

  Channel* channel_;
  AVIOContext* io_ = nullptr;
  AVFormatContext* context_ = nullptr;
  std::int64_t at_ = 0, size_ = 0;
};

// Copies the parameters of an input stream to an output stream.
void copy_stream(const AVStream& from, AVStream& to, const AVOutputFormat& format) {
  check(avcodec_parameters_copy(to.codecpar, from.codecpar), "a stream cannot be copied");
  const auto tag = from.codecpar->codec_tag;
  if (format.codec_tag != nullptr && av_codec_get_id(format.codec_tag, tag) != from.codecpar->codec_id)
    to.codecpar->codec_tag = 0;
  to.time_base = from.time_base;
  to.avg_frame_rate = from.avg_frame_rate;
  to.r_frame_rate = from.r_frame_rate;
  to.sample_aspect_ratio = from.sample_aspect_ratio;
  to.disposition = from.disposition;
  to.duration = from.duration;
  av_dict_copy(&to.metadata, from.metadata, 0);
#if LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 15, 100)
  for (const SideData& one : side_data_of(from)) add_side_data(to, one);
#endif
}

// Returns the reason why a container does not accept a stream; nothing where it does. It is tested by writing the
// header of a file with this stream alone.
std::optional<std::string> find_incompatibility(const AVStream& stream, const std::string& format) {
  if (stream.codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT && format == "webm")
    return "webm cannot store attachments";
  if ((stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0 && (format == "mov" || format == "webm"))
    return fmt::format("{} cannot store cover images", format);
  Output alone(format, nullptr);
  AVStream& to = alone.add_stream();
  copy_stream(stream, to, *alone->oformat);
  to.disposition = 0;
  const int error = avformat_write_header(alone.get(), nullptr);
  if (error < 0) {
    const bool is_audio = stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO && format != "matroska";
    return fmt::format("{} cannot store {}{}", format, avcodec_get_name(stream.codecpar->codec_id),
                       is_audio ? "; .mkv stores most audio codecs" : "");
  }
  av_write_trailer(alone.get());
  return std::nullopt;
}

class Muxing {
 public:
  Muxing(Channel& channel, int fd, const Json& what)
      : channel_(channel),
        input_(fd),
        output_(what.at("format").text(), &channel),
        stream_(what.at("stream").get<int>()) {
    if (stream_ < 0 || stream_ >= static_cast<int>(input_->nb_streams)) fail("it has no such stream", 0);
    const AVCodecDescriptor* codec = avcodec_descriptor_get_by_name(what.at("codec").get<std::string>().c_str());
    if (codec == nullptr || avformat_query_codec(output_->oformat, codec->id, FF_COMPLIANCE_NORMAL) == 0)
      throw FatalError(ErrorCode::unsupported,
                       fmt::format("a video file in {} cannot store frames in {}", what.at("format").get<std::string>(),
                                   what.at("codec").get<std::string>()));
    check_video(*codec, what.at("format").text());
    Json dropped_streams = Json::array();
    std::vector<int> kept;
    for (unsigned i = 0; i < input_->nb_streams; ++i) {
      const AVStream& stream = *input_->streams[i];
      if (static_cast<int>(i) == stream_) {
        kept.push_back(stream_);
        continue;
      }
      // MP4 stores its chapters in a stream as well; here they are written as chapters.
      const bool chapters = input_->nb_chapters > 0 && stream.codecpar->codec_type == AVMEDIA_TYPE_DATA &&
                            stream.codecpar->codec_id == AV_CODEC_ID_BIN_DATA;
      const auto why = chapters ? std::string() : find_incompatibility(stream, what.at("format").text());
      if (!why) {
        kept.push_back(static_cast<int>(i));
      } else if (!chapters) {
        const char* type = av_get_media_type_string(stream.codecpar->codec_type);
        const AVDictionaryEntry* language = av_dict_get(stream.metadata, "language", nullptr, 0);
        dropped_streams.push_back({{"index", i},
                                   {"type", type == nullptr ? "unknown" : type},
                                   {"codec", avcodec_get_name(stream.codecpar->codec_id)},
                                   {"language", language == nullptr ? "" : language->value},
                                   {"why", *why}});
      }
    }
    kept_ = std::move(kept);
    // Only MP4 and MOV store a rotation, as a matrix.
    if (rotation_of(*input_->streams[stream_]) != 0 && std::strstr(output_->oformat->name, "mp4") == nullptr &&
        std::strstr(output_->oformat->name, "mov") == nullptr) {
      dropped_streams.push_back({{"index", stream_},
                                 {"type", "rotation"},
                                 {"codec", ""},
                                 {"language", ""},
                                 {"why", "players will show the video unrotated; .mp4 and .mov keep the rotation"}});
    }
    Message message;
    message.kind = MessageKind::opened;
    channel_.send(message, Json({{"left_out", dropped_streams}}).dump());
  }

  void run() {
    Channel::ReceivedMessage incoming;
    channel_.receive_or_exit(incoming);
    if (incoming.message.kind != MessageKind::go_on) return;
    begin(Json::parse(incoming.text), incoming.data);
    const Packet copied = make_packet(), video = make_packet();
    bool more_copied = next_copied(*copied), more_video = next_video(*video);
    while (more_copied || more_video) {
      const bool video_first =
          more_video && (!more_copied || (copied->dts != AV_NOPTS_VALUE &&
                                          av_compare_ts(video->dts, input_->streams[stream_]->time_base, copied->dts,
                                                        input_->streams[copied->stream_index]->time_base) <= 0));
      write(video_first ? *video : *copied);
      if (video_first) {
        more_video = next_video(*video);
      } else {
        more_copied = next_copied(*copied);
      }
    }
    check(av_write_trailer(output_.get()), "the end of the video cannot be written");
    output_.flush();
    Message message;
    message.kind = MessageKind::end;
    message.errors = moved_;
    channel_.send(message);
  }

 private:
  // MOV accepts fewer codecs than MP4, and refuses only when its header is written. The header of Matroska needs the
  // encoder's headers first, so it is not tested.
  void check_video(const AVCodecDescriptor& codec, const std::string& format) const {
    if (format != "mov" && format != "mp4") return;
    Output alone(format, nullptr);
    AVStream& to = alone.add_stream();
    to.codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
    to.codecpar->codec_id = codec.id;
    to.codecpar->width = input_->streams[stream_]->codecpar->width;
    to.codecpar->height = input_->streams[stream_]->codecpar->height;
    to.codecpar->format = AV_PIX_FMT_YUV420P;
    to.time_base = input_->streams[stream_]->time_base;
    const int error = avformat_write_header(alone.get(), nullptr);
    if (error < 0) {
      throw FatalError(ErrorCode::unsupported,
                       fmt::format("a video file in {} cannot store frames in {}", format, codec.name));
    }
  }

  void begin(const Json& video, const std::vector<std::uint8_t>& extradata) {
    places_.assign(input_->nb_streams, nullptr);
    begun_.assign(input_->nb_streams, false);
    for (unsigned i = 0; i < input_->nb_streams; ++i) input_->streams[i]->discard = AVDISCARD_ALL;
    for (const int i : kept_) {
      AVStream& to = output_.add_stream();
      places_[static_cast<std::size_t>(i)] = &to;
      if (i == stream_) {
        set_video(*input_->streams[i], to, video, extradata);
      } else {
        input_->streams[i]->discard = AVDISCARD_DEFAULT;
        copy_stream(*input_->streams[i], to, *output_->oformat);
        if (is_matroska() && (input_->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
          attach(*input_->streams[i], to);
      }
    }
    last_.assign(output_->nb_streams, kNoTime);
    copy_metadata(&output_->metadata, input_->metadata);
    if (!video.at("start").is_null()) start_ = video.at("start").get<std::int64_t>();
    if (!video.at("end").is_null()) end_ = video.at("end").get<std::int64_t>();
    copy_chapters();
    AVDictionary* options = nullptr;
    // Metadata for which MOV has no standard field are in a list of their own, as phones write it.
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(output_->metadata, "com.apple.quicktime.", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr)
      if (std::strcmp(output_->oformat->name, "mov") == 0) av_dict_set(&options, "movflags", "use_metadata_tags", 0);
    // The writer is set between these two calls: avformat_init_output() would remove it, because FFmpeg versions name
    // themselves differently.
    int error = avformat_init_output(output_.get(), &options);
    const char* key = std::strcmp(output_->oformat->name, "mp4") == 0 ? "encoding_tool" : "encoder";
    av_dict_set(&output_->metadata, key, video.at("writer").get<std::string>().c_str(), 0);
    if (error >= 0) error = avformat_write_header(output_.get(), nullptr);
    av_dict_free(&options);
    check(error, "the container cannot store the video");
  }

  bool is_matroska() const { return std::strcmp(output_->oformat->name, "matroska") == 0; }

  // Matroska stores a cover as an attached file.
  void attach(const AVStream& from, AVStream& to) {
    const AVPacket& cover = from.attached_pic;
    AVCodecParameters& codec = *to.codecpar;
    codec.codec_type = AVMEDIA_TYPE_ATTACHMENT;
    av_freep(&codec.extradata);
    codec.extradata =
        static_cast<std::uint8_t*>(av_mallocz(static_cast<std::size_t>(cover.size) + AV_INPUT_BUFFER_PADDING_SIZE));
    if (codec.extradata == nullptr) throw std::bad_alloc();
    std::memcpy(codec.extradata, cover.data, static_cast<std::size_t>(cover.size));
    codec.extradata_size = cover.size;
    to.disposition = 0;
    const bool png = codec.codec_id == AV_CODEC_ID_PNG;
    if (av_dict_get(to.metadata, "filename", nullptr, 0) == nullptr)
      av_dict_set(&to.metadata, "filename", png ? "cover.png" : "cover.jpg", 0);
    if (av_dict_get(to.metadata, "mimetype", nullptr, 0) == nullptr)
      av_dict_set(&to.metadata, "mimetype", png ? "image/png" : "image/jpeg", 0);
    places_[static_cast<std::size_t>(from.index)] = nullptr;  // the cover is in the header
  }

  void set_video(const AVStream& from, AVStream& to, const Json& video, const std::vector<std::uint8_t>& extradata) {
    AVCodecParameters& codec = *to.codecpar;
    const AVCodecDescriptor* about = avcodec_descriptor_get_by_name(video.at("codec").get<std::string>().c_str());
    if (about == nullptr) fail("there is no such codec", 0);
    codec.codec_type = AVMEDIA_TYPE_VIDEO;
    codec.codec_id = about->id;
    // The tag of ProRes contains its quality.
    codec.codec_tag = about->id == AV_CODEC_ID_PRORES ? video.at("tag").get<std::uint32_t>() : 0;
    if (about->id == AV_CODEC_ID_HEVC && std::strcmp(output_->oformat->name, "matroska") != 0)
      codec.codec_tag = MKTAG('h', 'v', 'c', '1');
    video.read("profile", codec.profile);
    video.read("level", codec.level);
    video.read("width", codec.width);
    video.read("height", codec.height);
    codec.format = av_get_pix_fmt(video.at("pixels").get<std::string>().c_str());
    video.read("bits", codec.bits_per_coded_sample);
    video.read("delay", codec.video_delay);
    codec.color_range = static_cast<AVColorRange>(video.at("range").get<int>());
    codec.color_space = static_cast<AVColorSpace>(video.at("matrix").get<int>());
    codec.color_primaries = static_cast<AVColorPrimaries>(video.at("primaries").get<int>());
    codec.color_trc = static_cast<AVColorTransferCharacteristic>(video.at("transfer").get<int>());
    codec.chroma_location = static_cast<AVChromaLocation>(video.at("siting").get<int>());
    codec.sample_aspect_ratio = {video.at("aspect").at(0).get<int>(), video.at("aspect").at(1).get<int>()};
    if (!extradata.empty()) {
      codec.extradata = static_cast<std::uint8_t*>(av_mallocz(extradata.size() + AV_INPUT_BUFFER_PADDING_SIZE));
      if (codec.extradata == nullptr) throw std::bad_alloc();
      std::memcpy(codec.extradata, extradata.data(), extradata.size());
      codec.extradata_size = static_cast<int>(extradata.size());
    }
    to.time_base = from.time_base;
    to.avg_frame_rate = from.avg_frame_rate;
    to.r_frame_rate = from.r_frame_rate;
    to.sample_aspect_ratio = codec.sample_aspect_ratio;
    to.disposition = from.disposition;
    copy_metadata(&to.metadata, from.metadata);
    // The new frames may have alpha or not; the muxer states that itself.
    av_dict_set(&to.metadata, "alpha_mode", nullptr, 0);
    // These side data are properties of the frames, independent of the encoder: orientation, HDR brightness, spherical
    // projection.
    for (const SideData& one : side_data_of(from)) {
      switch (one.type) {
        case AV_PKT_DATA_DISPLAYMATRIX:
        case AV_PKT_DATA_STEREO3D:
        case AV_PKT_DATA_SPHERICAL:
        case AV_PKT_DATA_MASTERING_DISPLAY_METADATA:
        case AV_PKT_DATA_CONTENT_LIGHT_LEVEL:
          add_side_data(to, one);
          break;
        default:  // data for the old codec
          break;
      }
    }
    add_from_hex(to, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, video.at("mastering").text());
    add_from_hex(to, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, video.at("light").text());
  }

  // Adds HDR metadata that only the frames contained; a video states them in its header for all frames.
  static void add_from_hex(AVStream& to, AVPacketSideDataType type, const std::string& hex) {
    std::vector<std::uint8_t> bytes(hex.size() / 2);
    for (std::size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<std::uint8_t>(std::strtoul(hex.substr(2 * k, 2).c_str(), nullptr, 16));
    for (const SideData& one : side_data_of(to))
      if (one.type == type) return;
    if (!bytes.empty()) add_side_data(to, {type, bytes.data(), bytes.size()});
  }

  void copy_chapters() {
    output_->chapters = static_cast<AVChapter**>(av_calloc(std::max(input_->nb_chapters, 1U), sizeof(void*)));
    if (output_->chapters == nullptr) throw std::bad_alloc();
    for (unsigned i = 0; i < input_->nb_chapters; ++i) {
      const AVChapter& from = *input_->chapters[i];
      const auto here = [&](std::int64_t time) { return av_rescale_q(time, video_base(), from.time_base); };
      const std::int64_t start = start_ ? std::max(from.start, here(*start_)) : from.start;
      const std::int64_t end = end_ ? std::min(from.end, here(*end_)) : from.end;
      if (start >= end && (start_ || end_)) continue;
      const std::int64_t shift = start_ ? here(*start_) : 0;
      auto* to = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
      if (to == nullptr) throw std::bad_alloc();
      to->id = from.id;
      to->time_base = from.time_base;
      to->start = start - shift;
      to->end = end - shift;
      av_dict_copy(&to->metadata, from.metadata, 0);
      output_->chapters[output_->nb_chapters++] = to;
    }
  }

  bool next_copied(AVPacket& packet) {
    if (kept_.size() < 2) return false;
    while (true) {
      av_packet_unref(&packet);
      if (!input_.next(packet)) return false;
      const auto index = static_cast<std::size_t>(packet.stream_index);
      if (packet.stream_index == stream_ || index >= places_.size() || places_[index] == nullptr) continue;
      // A copied video stream begins with a key frame.
      const bool pictures = input_->streams[packet.stream_index]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
      if (!is_wanted(packet)) continue;
      if (start_ && pictures && !begun_.at(index) && (packet.flags & AV_PKT_FLAG_KEY) == 0) continue;
      begun_.at(index) = true;
      return true;
    }
  }

  AVRational video_base() const { return input_->streams[stream_]->time_base; }

  // True for a packet that begins within the copied range.
  bool is_wanted(const AVPacket& packet) const {
    const std::int64_t time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if ((!start_ && !end_) || time == AV_NOPTS_VALUE) return true;
    const AVRational base = input_->streams[packet.stream_index]->time_base;
    return (!start_ || av_compare_ts(time, base, *start_, video_base()) >= 0) &&
           (!end_ || av_compare_ts(time, base, *end_, video_base()) < 0);
  }

  bool next_video(AVPacket& packet) {
    Message message;
    message.kind = MessageKind::want;
    channel_.send(message);
    channel_.receive_or_exit(incoming_);
    av_packet_unref(&packet);
    const Message& received = incoming_.message;
    if (received.kind == MessageKind::end) return false;
    if (received.kind != MessageKind::packet || received.side_bytes > incoming_.data.size() ||
        incoming_.data.size() > INT32_MAX)
      fail("a packet was expected", 0);
    const std::size_t bytes = incoming_.data.size() - received.side_bytes;
    check(av_new_packet(&packet, static_cast<int>(bytes)), "a packet is too large");
    std::memcpy(packet.data, incoming_.data.data(), bytes);
    if (received.side_bytes > 0) {
      std::uint8_t* side = av_packet_new_side_data(&packet, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, received.side_bytes);
      if (side == nullptr) throw std::bad_alloc();
      std::memcpy(side, incoming_.data.data() + bytes, received.side_bytes);
    }
    packet.stream_index = stream_;
    packet.pts = received.pts;
    packet.dts = received.dts;
    packet.duration = received.duration;
    if (received.key != 0) packet.flags |= AV_PKT_FLAG_KEY;
    return true;
  }

  void write(AVPacket& packet) {
    const AVStream& from = *input_->streams[packet.stream_index];
    AVStream& to = *places_[static_cast<std::size_t>(packet.stream_index)];
    packet.stream_index = to.index;
    packet.pos = -1;
    if (start_) {
      const std::int64_t shift = av_rescale_q(*start_, video_base(), from.time_base);
      if (packet.pts != AV_NOPTS_VALUE) packet.pts -= shift;
      if (packet.dts != AV_NOPTS_VALUE) packet.dts -= shift;
    }
    av_packet_rescale_ts(&packet, from.time_base, to.time_base);
    // Matroska states the delay with which a decoder begins, and readers subtract it from all times.
    if (to.codecpar->codec_type == AVMEDIA_TYPE_AUDIO && to.codecpar->initial_padding > 0 &&
        to.codecpar->sample_rate > 0 && (is_matroska() || std::strcmp(output_->oformat->name, "webm") == 0)) {
      const std::int64_t delay =
          av_rescale_q(to.codecpar->initial_padding, {1, to.codecpar->sample_rate}, to.time_base);
      if (packet.pts != AV_NOPTS_VALUE) packet.pts += delay;
      if (packet.dts != AV_NOPTS_VALUE) packet.dts += delay;
    }
    put_in_order(packet, last_[static_cast<std::size_t>(to.index)]);
    check(av_interleaved_write_frame(output_.get(), &packet), "a packet cannot be written");
  }

  // Makes decoding times increase, as containers require. Videos that were joined or damaged have other times.
  void put_in_order(AVPacket& packet, std::int64_t& last) {
    const bool given = packet.dts != AV_NOPTS_VALUE;
    if (!given) packet.dts = packet.pts != AV_NOPTS_VALUE ? packet.pts : last == kNoTime ? 0 : last + 1;
    const bool may_be_equal = (output_->oformat->flags & AVFMT_TS_NONSTRICT) != 0;
    const bool late = last != kNoTime && (may_be_equal ? packet.dts < last : packet.dts <= last);
    if (late) packet.dts = may_be_equal ? last : last + 1;
    if (packet.pts != AV_NOPTS_VALUE && packet.pts < packet.dts) packet.pts = packet.dts;
    if (given && late) ++moved_;
    last = packet.dts;
  }

  Channel& channel_;
  Input input_;
  Output output_;
  const int stream_;
  std::vector<int> kept_;
  std::vector<AVStream*> places_;
  std::vector<bool> begun_;         // by input stream: a packet was copied
  std::vector<std::int64_t> last_;  // by output stream: last decoding time
  std::uint64_t moved_ = 0;
  std::optional<std::int64_t> start_, end_;  // in units of the video stream
  Channel::ReceivedMessage incoming_;
};

}  // namespace

void mux(Channel& channel, int fd, const Json& what) { Muxing(channel, fd, what).run(); }

}  // namespace millrace::video_file
