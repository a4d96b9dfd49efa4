#include "src/jobs/video/encoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace millrace::video {
namespace {

using film::EncoderOptions;
using film::Kind;
using film::Shape;

bool has_odd_side(const Shape& shape) {
  return shape.kind == Kind::yuv &&
         ((shape.log2_cw > 0 && shape.width % 2 != 0) || (shape.log2_ch > 0 && shape.height % 2 != 0));
}

Codec chosen_codec(const Options& options, const Shape& shape, const std::string& container) {
  if (options.codec != Codec::automatic) return options.codec;
  if (container == "webm") return Codec::vp9;
  if (shape.alpha != 0) return container == "mov" ? Codec::prores : container == "matroska" ? Codec::ffv1 : Codec::vp9;
  if (shape.kind == Kind::rgb || has_odd_side(shape)) return Codec::vp9;
  return shape.depth > 10 ? (shape.depth > 12 ? Codec::ffv1 : Codec::h265) : Codec::h264;
}

// What a codec's encoders take, of each kind of picture the depths, lowest first.
struct Takes {
  std::vector<std::uint32_t> depths;
  // By the logarithms of how much narrower and lower chroma is.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chroma;
  bool gray = false, rgb = false, alpha = false, odd = true;
};
Takes takes_of(Codec codec, bool alpha) {
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
      if (alpha) return {{10}, {{0, 0}}, false, false, true};
      return {{10}, {{1, 0}, {0, 0}}, false, false, false};
    default:
      if (alpha) return {{8, 10, 16}, {{1, 1}, {1, 0}, {0, 0}}, false, true, true};
      return {{8, 9, 10, 12, 14, 16}, {{1, 1}, {1, 0}, {0, 0}}, true, true, false};
  }
}

std::optional<Shape> shape_for(const Takes& takes, Shape shape) {
  if (shape.alpha != 0 && !takes.alpha) return std::nullopt;
  const auto depth =
      std::find_if(takes.depths.begin(), takes.depths.end(), [&](std::uint32_t bits) { return bits >= shape.depth; });
  if (depth == takes.depths.end()) return std::nullopt;
  shape.depth = *depth;
  if (shape.kind == Kind::rgb) return takes.rgb ? std::optional(shape) : std::nullopt;
  if (shape.kind == Kind::gray) {
    if (takes.gray && shape.alpha == 0) return shape;
    // Chroma that says nothing.
    shape.kind = Kind::yuv;
    shape.log2_cw = takes.chroma.front().first;
    shape.log2_ch = takes.chroma.front().second;
    return shape;
  }
  for (const auto& [cw, ch] : takes.chroma) {
    if (cw > shape.log2_cw || ch > shape.log2_ch) continue;
    shape.log2_cw = cw;
    shape.log2_ch = ch;
    return has_odd_side(shape) && !takes.odd ? std::nullopt : std::optional(shape);
  }
  return std::nullopt;
}

std::string words_of(const Shape& shape) {
  const std::string kind = shape.kind == Kind::rgb    ? "RGB"
                           : shape.kind == Kind::gray ? "gray"
                           : shape.log2_cw == 0       ? (shape.log2_ch == 0 ? "4:4:4" : "4:4:0")
                           : shape.log2_cw == 1       ? (shape.log2_ch == 0 ? "4:2:2" : "4:2:0")
                                                      : "4:1:x";
  return fmt::format("{} of {} bits{}, {} x {}", kind, shape.depth, shape.alpha != 0 ? " with transparency" : "",
                     shape.width, shape.height);
}

// A number for each quality but lossless, and for each profile a name.
std::string crf_of(const Options& options, int low, int medium, int high) {
  if (options.crf) return std::to_string(*options.crf);
  return std::to_string(options.quality == Quality::low ? low : options.quality == Quality::medium ? medium : high);
}
const char* preset_of(Profile profile, const char* fast, const char* balanced, const char* quality) {
  return profile == Profile::fast ? fast : profile == Profile::balanced ? balanced : quality;
}

void set_candidates(const Options& options, Encoding& out) {
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
      candidates = {{"libx264", {{"preset", preset}, {quality.first, quality.second}}}};
      // Constant quantisers are all that it has of the kind; it is for films that x264's licence does not suit.
      if (!lossless) candidates.push_back({"libopenh264", {{"rc_mode", "quality"}, {"b", "8000000"}}});
      return say(crf);
    }
    case Codec::h265: {
      const char* preset = preset_of(options.profile, "veryfast", "medium", "slow");
      const std::string crf = crf_of(options, 28, 23, 18);
      // Its threads are a pool of its own; how many frames it works at at once is part of what it makes.
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
        throw Failure(ErrorCode::usage, "ProRes is never lossless", "--quality", "--codec ffv1 is");
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

Encoding choose_encoding(const Options& options, const Shape& shape, const std::string& container,
                         const film::FilmFile& film) {
  Encoding out;
  out.codec = chosen_codec(options, shape, container);
  const auto wanted = shape_for(takes_of(out.codec, shape.alpha != 0), shape);
  if (!wanted) {
    std::string others;
    for (const auto& each : choices_of(Codec{}))
      if (each.value != Codec::automatic && shape_for(takes_of(each.value, shape.alpha != 0), shape))
        others += fmt::format("{}{}", others.empty() ? "" : ", ", each.name);
    throw Failure(ErrorCode::usage, fmt::format("{} does not hold {}", choice_name(out.codec), words_of(shape)),
                  "--codec", others.empty() ? "" : "these do: " + others);
  }
  out.options.shape = *wanted;
  out.options.time_base = film.time_base;
  out.options.rate = film.rate;
  out.options.threads = static_cast<int>(options.encoder_threads);
  set_candidates(options, out);
  return out;
}

std::uint64_t encoder_look_ahead(const Encoding& encoding, Profile profile) {
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
