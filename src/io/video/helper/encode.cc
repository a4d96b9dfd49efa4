// Encodes frames to packets, with one encoder from its beginning to its end.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

AVColorRange range_of(ColorRange range) {
  return range == ColorRange::full      ? AVCOL_RANGE_JPEG
         : range == ColorRange::limited ? AVCOL_RANGE_MPEG
                                        : AVCOL_RANGE_UNSPECIFIED;
}

bool takes(const AVCodec& codec, AVPixelFormat format) {
  for (const AVPixelFormat* one = codec.pix_fmts; one != nullptr && *one != AV_PIX_FMT_NONE; ++one)
    if (*one == format) return true;
  return codec.pix_fmts == nullptr;
}

// Returns a packed RGB format of 8 bits, for an encoder that has no planar format for it.
AVPixelFormat packed_format(const AVCodec& codec, const FrameShape& shape) {
  if (shape.kind != ColorModel::rgb || shape.depth != 8 || codec.pix_fmts == nullptr) return AV_PIX_FMT_NONE;
  for (const AVPixelFormat one : {AV_PIX_FMT_BGRA, AV_PIX_FMT_RGBA})
    if (shape.alpha != 0 && takes(codec, one)) return one;
  for (const AVPixelFormat one : {AV_PIX_FMT_BGR0, AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24})
    if (shape.alpha == 0 && takes(codec, one)) return one;
  return AV_PIX_FMT_NONE;
}

AVRational rational(const Json& value) { return {value.at(0).get<int>(), value.at(1).get<int>()}; }

// A slot of the program, which is returned when the encoder releases the frame.
struct Lent {
  Channel* channel;
  std::uint32_t slot;
};
void give_back(const Lent& lent) {
  Message message;
  message.kind = MessageKind::slot;
  message.slot = lent.slot;
  lent.channel->send(message);
}
void let_go(void* lent, std::uint8_t* /*data*/) { give_back(*std::unique_ptr<Lent>(static_cast<Lent*>(lent))); }

class Encoding {
 public:
  Encoding(Channel& channel, const Json& what)
      : channel_(channel), shape_(shape_of_json(what.at("shape"))), layout_(layout_of(shape_)) {
    const AVPixelFormat planar = pixel_format_of(shape_);
    std::string reasons;
    const auto no = [&](const std::string& why) { reasons += (reasons.empty() ? "" : "; ") + why; };
    for (const Json& candidate : what.at("encoders")) {
      const std::string& name = candidate.at("name").text();
      const AVCodec* codec = avcodec_find_encoder_by_name(name.c_str());
      if (codec == nullptr) {
        no(fmt::format("{} is not available", name));
        continue;
      }
      format_ = planar != AV_PIX_FMT_NONE && takes(*codec, planar) ? planar : packed_format(*codec, shape_);
      packed_ = format_ != planar;
      if (format_ == AV_PIX_FMT_NONE) {
        const char* known = planar == AV_PIX_FMT_NONE ? nullptr : av_get_pix_fmt_name(planar);
        no(fmt::format("{} does not support {}", name,
                       known == nullptr ? fmt::format("this layout with {} bits", shape_.depth) : known));
        continue;
      }
      try {
        open(*codec, what, candidate.at("options"));
      } catch (const FatalError& error) {
        no(error.what());
        continue;
      }
      return;
    }
    throw FatalError(ErrorCode::unsupported, reasons);
  }

  void run() {
    Channel::ReceivedMessage incoming;
    while (true) {
      channel_.receive_or_exit(incoming);
      if (incoming.message.kind == MessageKind::drain) break;
      if (incoming.message.kind != MessageKind::frame) throw FatalError(ErrorCode::internal, "a frame was expected");
      const Frame frame = frame_of(incoming.message);
      check(avcodec_send_frame(encoder_.get(), frame.get()), "a frame cannot be encoded");
      take_packets();
    }
    check(avcodec_send_frame(encoder_.get(), nullptr), "the encoder cannot finish");
    take_packets();
    if (!headers_sent_) send_headers(nullptr);
    Message message;
    message.kind = MessageKind::end;
    channel_.send(message);
  }

 private:
  static FrameShape shape_of_json(const Json& what) {
    FrameShape out;
    what.read("width", out.width);
    what.read("height", out.height);
    out.kind = static_cast<ColorModel>(what.at("kind").get<std::uint32_t>());
    what.read("depth", out.depth);
    what.read("log2_cw", out.log2_cw);
    what.read("log2_ch", out.log2_ch);
    what.read("alpha", out.alpha);
    what.read("interlaced", out.interlaced);
    out.aspect_num = what.at("aspect").at(0).get<std::int32_t>();
    out.aspect_den = what.at("aspect").at(1).get<std::int32_t>();
    out.colors.range = static_cast<ColorRange>(what.at("range").get<std::uint32_t>());
    what.read("matrix", out.colors.matrix);
    what.read("primaries", out.colors.primaries);
    what.read("transfer", out.colors.transfer);
    what.read("siting", out.colors.siting);
    return out;
  }

  void open(const AVCodec& codec, const Json& what, const Json& options) {
    encoder_.reset(avcodec_alloc_context3(&codec));
    if (!encoder_) throw std::bad_alloc();
    AVCodecContext& e = *encoder_;
    e.width = shape_.width;
    e.height = shape_.height;
    e.pix_fmt = format_;
    e.time_base = rational(what.at("time_base"));
    if (what.at("rate").at(0).get<int>() > 0) e.framerate = rational(what.at("rate"));
    e.sample_aspect_ratio = {shape_.aspect_num, shape_.aspect_den};
    e.color_range = range_of(shape_.colors.range);
    e.colorspace = static_cast<AVColorSpace>(shape_.colors.matrix);
    e.color_primaries = static_cast<AVColorPrimaries>(shape_.colors.primaries);
    e.color_trc = static_cast<AVColorTransferCharacteristic>(shape_.colors.transfer);
    e.chroma_sample_location = static_cast<AVChromaLocation>(shape_.colors.siting);
    what.read("threads", e.thread_count);
    // The headers that decoders need are stored once in the file, and not before every key frame.
    e.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    AVDictionary* given = nullptr;
    for (const auto& [key, value] : options.items())
      av_dict_set(&given, key.c_str(), value.get<std::string>().c_str(), 0);
    const int error = avcodec_open2(&e, &codec, &given);
    const AVDictionaryEntry* left = av_dict_get(given, "", nullptr, AV_DICT_IGNORE_SUFFIX);
    const std::string unknown = left == nullptr ? "" : left->key;
    av_dict_free(&given);
    check(error, fmt::format("the encoder {} cannot be opened", codec.name));
    if (!unknown.empty()) fail(fmt::format("the encoder {} has no option {}", codec.name, unknown), 0);
  }

  // Sends the headers for decoders. Some encoders have them only with the first packet.
  void send_headers(const AVPacket* first) {
    headers_sent_ = true;
    const AVCodecContext& e = *encoder_;
    const std::uint8_t* extradata = e.extradata;
    auto extradata_bytes = static_cast<std::size_t>(e.extradata_size);
    if (extradata_bytes == 0 && first != nullptr)
      extradata = av_packet_get_side_data(first, AV_PKT_DATA_NEW_EXTRADATA, &extradata_bytes);
    const Json text = {{"encoder", e.codec->name}, {"codec", avcodec_get_name(e.codec_id)},    {"profile", e.profile},
                       {"level", e.level},         {"pixels", av_get_pix_fmt_name(e.pix_fmt)}, {"tag", e.codec_tag},
                       {"delay", e.has_b_frames},  {"bits", e.bits_per_coded_sample}};
    Message message;
    message.kind = MessageKind::opened;
    channel_.send(message, text.dump(), extradata, extradata_bytes);
  }

  Frame frame_of(const Message& message) {
    Frame out = make_frame();
    out->width = shape_.width;
    out->height = shape_.height;
    out->format = format_;
    out->pts = message.pts;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    out->duration = message.duration;
#else
    out->pkt_duration = message.duration;
#endif
    out->sample_aspect_ratio = encoder_->sample_aspect_ratio;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100)
    if (shape_.interlaced != 0) out->flags |= AV_FRAME_FLAG_INTERLACED;
    if (shape_.interlaced == 1) out->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
#else
    out->interlaced_frame = shape_.interlaced != 0 ? 1 : 0;
    out->top_field_first = shape_.interlaced == 1 ? 1 : 0;
#endif
    out->color_range = encoder_->color_range;
    out->colorspace = encoder_->colorspace;
    out->color_primaries = encoder_->color_primaries;
    out->color_trc = encoder_->color_trc;
    out->chroma_location = encoder_->chroma_sample_location;
    packed_ ? pack(message, *out) : lend(message, *out);
    return out;
  }

  // Uses the slot itself as the frame's memory; it is returned when the encoder releases the frame.
  void lend(const Message& message, AVFrame& out) {
    std::uint8_t* slot = channel_.slot(message.slot, layout_.bytes);
    const AVPixFmtDescriptor& about = *av_pix_fmt_desc_get(format_);
    for (std::uint32_t p = 0; p < shape_.planes(); ++p) {
      const int plane = about.comp[p].plane;
      out.data[plane] = slot + layout_.offset[p];
      out.linesize[plane] = static_cast<int>(layout_.stride[p]);
    }
    auto lent = std::make_unique<Lent>(Lent{&channel_, message.slot});
    out.buf[0] = av_buffer_create(slot, layout_.bytes, let_go, lent.get(), AV_BUFFER_FLAG_READONLY);
    if (out.buf[0] == nullptr) throw std::bad_alloc();
    (void)lent.release();  // let_go() owns it now
  }

  // Copies the slot into a packed frame, whose channels are interleaved.
  void pack(const Message& message, AVFrame& out) {
    const std::uint8_t* slot = channel_.slot(message.slot, layout_.bytes);
    check(av_frame_get_buffer(&out, 0), "there is no memory for a frame");
    const AVPixFmtDescriptor& about = *av_pix_fmt_desc_get(format_);
    std::vector<std::uint16_t> row(static_cast<std::size_t>(shape_.width));
    for (std::uint32_t p = 0; p < shape_.planes(); ++p) {
      for (int y = 0; y < shape_.height; ++y) {
        const std::uint8_t* from = slot + layout_.offset[p] + static_cast<std::size_t>(y) * layout_.stride[p];
        std::copy(from, from + shape_.width, row.begin());
        av_write_image_line2(row.data(), out.data, out.linesize, &about, 0, y, static_cast<int>(p), shape_.width,
                             sizeof(std::uint16_t));
      }
    }
    give_back({&channel_, message.slot});
  }

  void take_packets() {
    while (true) {
      const int error = avcodec_receive_packet(encoder_.get(), packet_.get());
      if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return;
      check(error, "a frame cannot be encoded");
      if (!headers_sent_) send_headers(packet_.get());
      Message message;
      message.kind = MessageKind::packet;
      message.pts = packet_->pts;
      message.dts = packet_->dts;
      message.duration = packet_->duration;
      message.key = (packet_->flags & AV_PKT_FLAG_KEY) != 0 ? 1 : 0;
      std::size_t beside = 0;
      const std::uint8_t* side = av_packet_get_side_data(packet_.get(), AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, &beside);
      message.side_bytes = static_cast<std::uint32_t>(beside);
      channel_.send(message, {}, packet_->data, static_cast<std::size_t>(packet_->size), side, beside);
      av_packet_unref(packet_.get());
    }
  }

  Channel& channel_;
  const FrameShape shape_;
  const FrameLayout layout_;
  AVPixelFormat format_ = AV_PIX_FMT_NONE;
  bool packed_ = false, headers_sent_ = false;
  CodecContext encoder_;
  const Packet packet_ = make_packet();
};

}  // namespace

void encode(Channel& channel, const Json& what) {
  // Some encoders read memory that they have not written, and x264 (core 164) then encodes a frame differently.
  // Valgrind does not find that, but other fill values of malloc() do. With this setting malloc() returns zeros,
  // whatever was encoded before.
  ::mallopt(M_PERTURB, 255);
  Encoding encoding(channel, what);
  if (what.value("only_open", false)) {
    Message message;
    message.kind = MessageKind::end;
    return channel.send(message);
  }
  encoding.run();
}

}  // namespace millrace::video_file
