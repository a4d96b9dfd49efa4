#include "src/jobs/video/encoders.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/io/video/video_muxer.h"

namespace millrace::video {
namespace {

using video_file::ColorModel;
using video_file::FrameShape;

bool has_odd_side(const FrameShape& shape) {
  return shape.kind == ColorModel::yuv &&
         ((shape.log2_cw > 0 && shape.width % 2 != 0) || (shape.log2_ch > 0 && shape.height % 2 != 0));
}

// Frame formats that a codec's encoders accept; depths in bits per sample, lowest first.
struct AcceptedFormats {
  std::vector<std::uint32_t> depths;
  // Chroma subsampling, as base-2 logarithms of the horizontal and vertical factors.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chroma;
  bool gray = false, rgb = false, alpha = false, odd = true;
};
AcceptedFormats accepted_formats_of(Codec codec, bool alpha) {
  switch (codec) {
    case Codec::h264:
      return {{8, 10}, {{1, 1}, {1, 0}, {0, 0}}, true, false, false, false};
    case Codec::h265:
      return {{8, 10, 12}, {{1, 1}, {1, 0}, {0, 0}}, true, true, false, false};
    case Codec::vp9:
      if (alpha) return {{8}, {{1, 1}}, false, false, true};
      return {{8, 10, 12}, {{1, 1}, {1, 0}, {0, 1}, {0, 0}}, false, true, false};
    case Codec::av1:
      return {{8, 10, 12}, {{1, 1}, {1, 0}, {0, 0}}, false, true, false};
    case Codec::prores:
      if (alpha) return {{10}, {{0, 0}}, false, false, true, true};
      return {{10}, {{1, 0}, {0, 0}}, false, false, false, true};
    default:
      if (alpha) return {{8, 10, 16}, {{1, 1}, {1, 0}, {0, 0}}, false, true, true};
      return {{8, 9, 10, 12, 14, 16}, {{1, 1}, {1, 0}, {0, 0}}, true, true, false};
  }
}

// True if the container can hold the codec. VP9 stores transparency beside its packets, which only Matroska and WebM
// support.
bool can_contain(const std::string& container, Codec codec, bool alpha) {
  const bool matroska = container == "matroska", webm = container == "webm", mov = container == "mov";
  switch (codec) {
    case Codec::h264:
    case Codec::h265:
      return !webm;
    case Codec::vp9:
      return matroska || webm || (container == "mp4" && !alpha);
    case Codec::av1:
      return matroska || webm || container == "mp4";
    case Codec::prores:
      return matroska || mov;
    default:
      return matroska;
  }
}

std::optional<FrameShape> shape_for(const AcceptedFormats& formats, FrameShape shape) {
  if (shape.alpha != 0 && !formats.alpha) return std::nullopt;
  const auto depth = std::find_if(formats.depths.begin(), formats.depths.end(),
                                  [&](std::uint32_t bits) { return bits >= shape.depth; });
  if (depth == formats.depths.end()) return std::nullopt;
  shape.depth = *depth;
  if (shape.kind == ColorModel::rgb) return formats.rgb ? std::optional(shape) : std::nullopt;
  if (shape.kind == ColorModel::gray) {
    if (formats.gray && shape.alpha == 0) return shape;
    // Gray video gets chroma planes without information.
    shape.kind = ColorModel::yuv;
    shape.log2_cw = formats.chroma.front().first;
    shape.log2_ch = formats.chroma.front().second;
    return has_odd_side(shape) && !formats.odd ? std::nullopt : std::optional(shape);
  }
  for (const auto& [cw, ch] : formats.chroma) {
    if (cw > shape.log2_cw || ch > shape.log2_ch) continue;
    shape.log2_cw = cw;
    shape.log2_ch = ch;
    return has_odd_side(shape) && !formats.odd ? std::nullopt : std::optional(shape);
  }
  return std::nullopt;
}

std::string words_of(const FrameShape& shape) {
  const std::string kind = shape.kind == ColorModel::rgb    ? "RGB"
                           : shape.kind == ColorModel::gray ? "gray"
                           : shape.log2_cw == 0             ? (shape.log2_ch == 0 ? "4:4:4" : "4:4:0")
                           : shape.log2_cw == 1             ? (shape.log2_ch == 0 ? "4:2:2" : "4:2:0")
                                                            : "4:1:x";
  return fmt::format("{} of {} bits{}, {} x {}", kind, shape.depth, shape.alpha != 0 ? " with transparency" : "",
                     shape.width, shape.height);
}

// Returns the CRF for each quality except lossless, and the preset for each profile.
std::string crf_of(const VideoOptions& options, int low, int medium, int high) {
  if (options.crf) return std::to_string(*options.crf);
  return std::to_string(options.quality == Quality::low ? low : options.quality == Quality::medium ? medium : high);
}
const char* preset_of(Profile profile, const char* fast, const char* balanced, const char* quality) {
  return profile == Profile::fast ? fast : profile == Profile::balanced ? balanced : quality;
}

void set_candidates(const VideoOptions& options, Encoding& out) {
  constexpr long long kMaxX264Crf = 51;
  if (options.crf && *options.crf > kMaxX264Crf && (out.codec == Codec::h264 || out.codec == Codec::h265))
    throw Failure(ErrorCode::usage, fmt::format("the limit for {} is 51", choice_name(out.codec)), "--crf", "");
  const bool lossless = options.quality == Quality::lossless && !options.crf;
  auto& candidates = out.options.candidates;
  const std::string name = choice_name(out.codec);
  const auto say = [&](const std::string& number) {
    out.words = fmt::format("{}, {}, {}", name, lossless ? "lossless" : "CRF " + number, choice_name(options.profile));
  };
  switch (out.codec) {
    case Codec::h264: {
      const char* preset = preset_of(options.profile, "veryfast", "medium", "slow");
      const std::string crf = crf_of(options, 28, 23, 18);
      const auto quality = lossless ? std::pair("qp", std::string("0")) : std::pair("crf", crf);
      // The lookahead thread of x264 makes packets that differ from run to run (core 164), so it is disabled.
      std::string more = "sync-lookahead=0";
      // Both fields of an interlaced frame keep their order.
      if (out.options.shape.interlaced != 0) more += out.options.shape.interlaced == 1 ? ":tff=1" : ":bff=1";
      candidates = {{"libx264", {{"preset", preset}, {quality.first, quality.second}, {"x264-params", more}}}};
      // OpenH264 has constant quantizers as its only constant quality. It is for users whom x264's license does not
      // suit.
      if (!lossless) candidates.push_back({"libopenh264", {{"rc_mode", "quality"}, {"b", "8000000"}}});
      return say(crf);
    }
    case Codec::h265: {
      const char* preset = preset_of(options.profile, "veryfast", "medium", "slow");
      const std::string crf = crf_of(options, 28, 23, 18);
      // x265 has its own thread pool. The number of frames that it encodes at once affects its output, so it is fixed.
      const std::string of_its_own = fmt::format("log-level=none:info=0:pools={0}:frame-threads=1{1}",
                                                 options.encoder_threads, lossless ? ":lossless=1" : "");
      candidates = {{"libx265", {{"preset", preset}, {"x265-params", of_its_own}}}};
      if (!lossless) candidates[0].options.emplace_back("crf", crf);
      return say(crf);
    }
    case Codec::vp9: {
      const char* speed = preset_of(options.profile, "6", "4", "2");
      const std::string crf = crf_of(options, 40, 32, 24);
      candidates = {{"libvpx-vp9", {{"deadline", "good"}, {"cpu-used", speed}, {"row-mt", "1"}, {"b", "0"}}}};
      if (lossless) {
        candidates[0].options.emplace_back("lossless", "1");
      } else {
        candidates[0].options.emplace_back("crf", crf);
      }
      return say(crf);
    }
    case Codec::av1: {
      const char* preset = preset_of(options.profile, "12", "10", "8");
      const char* speed = preset_of(options.profile, "8", "6", "4");
      const std::string crf = crf_of(options, 45, 35, 25);
      if (!lossless)
        candidates.push_back(
            {"libsvtav1",
             {{"preset", preset}, {"crf", crf}, {"svtav1-params", fmt::format("lp={}", options.encoder_threads)}}});
      candidates.push_back(
          {"libaom-av1", {{"cpu-used", speed}, {"row-mt", "1"}, {"crf", lossless ? "0" : crf}, {"b", "0"}}});
      if (lossless) candidates.back().options.emplace_back("aom-params", "lossless=1");
      return say(crf);
    }
    case Codec::prores: {
      if (options.quality == Quality::lossless)
        throw Failure(ErrorCode::usage, "ProRes is never lossless", "--quality", "use --codec ffv1");
      const bool full = out.options.shape.log2_cw == 0;
      const char* profile = full                               ? "4444"
                            : options.quality == Quality::low  ? "lt"
                            : options.quality == Quality::high ? "hq"
                                                               : "standard";
      candidates = {{"prores_ks", {{"profile", profile}, {"vendor", "apl0"}}}};
      out.words = fmt::format("ProRes {}", profile);
      return;
    }
    default:
      candidates = {{"ffv1", {{"level", "3"}, {"slicecrc", "1"}, {"g", "1"}}}};
      out.words = "FFV1, lossless";
      return;
  }
}

}  // namespace

Encoding choose_encoding(const VideoOptions& options, const FrameShape& shape, const std::string& container,
                         const video_file::VideoFile& film) {
  const bool alpha = shape.alpha != 0;
  const auto made_by = [&](Codec codec) { return shape_for(accepted_formats_of(codec, alpha), shape); };
  Encoding out;
  std::optional<FrameShape> wanted;
  // The codecs that most players support come first. A video in HEVC, or in HDR, remains in HEVC.
  const bool hevc = film.codec == "hevc" || video_file::is_hdr(shape.colors);
  std::string here, elsewhere;
  for (const Codec each : {hevc ? Codec::h265 : Codec::h264, hevc ? Codec::h264 : Codec::h265, Codec::vp9,
                           Codec::prores, Codec::av1, Codec::ffv1}) {
    const bool taken = options.codec == Codec::automatic || options.codec == each;
    const auto made = made_by(each);
    if (!made) continue;
    if (!can_contain(container, each, alpha)) {
      for (const char* ending : {".mkv", ".mov", ".webm", ".mp4"})
        if (taken && can_contain(video_file::container_of(std::string("film") + ending), each, alpha) &&
            elsewhere.find(ending) == std::string::npos)
          elsewhere += fmt::format("{}{}", elsewhere.empty() ? "" : ", ", ending);
      continue;
    }
    here += fmt::format("{}{}", here.empty() ? "" : ", ", choice_name(each));
    if (!taken || wanted) continue;
    wanted = made;
    out.codec = each;
  }
  if (!wanted) {
    std::string remedy;
    if (!here.empty()) remedy = "supported in this container: --codec " + here;
    if (!elsewhere.empty())
      remedy += fmt::format("{}a file that ends in {} can store it", remedy.empty() ? "" : "; ", elsewhere);
    throw Failure(ErrorCode::usage,
                  options.codec == Codec::automatic
                      ? fmt::format("no codec can store {} in {}", words_of(shape), container)
                      : fmt::format("{} cannot store {} in {}", choice_name(options.codec), words_of(shape), container),
                  "--codec", remedy);
  }
  out.options.shape = *wanted;
  out.options.time_base = film.time_base;
  out.options.rate = film.rate;
  out.options.threads = static_cast<int>(options.encoder_threads);
  set_candidates(options, out);
  return out;
}

std::uint64_t estimate_encoder_lookahead(const Encoding& encoding, Profile profile) {
  const auto by_profile = [&](std::uint64_t fast, std::uint64_t balanced, std::uint64_t quality) {
    return profile == Profile::fast ? fast : profile == Profile::balanced ? balanced : quality;
  };
  switch (encoding.codec) {
    case Codec::h264:
      return 2 * by_profile(10, 40, 50);
    case Codec::h265:
      return 3 * by_profile(15, 20, 25);
    case Codec::vp9:
      return 2 * 25;
    case Codec::av1:
      return 3 * by_profile(40, 40, 60);
    default:
      return 4;
  }
}

}  // namespace millrace::video
