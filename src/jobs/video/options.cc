#include "src/jobs/video/options.h"

#include <fmt/format.h>

#include "src/base/parse_values.h"
#include "src/base/text.h"
#include "src/io/video/video_muxer.h"
#include "src/jobs/model_options.h"

namespace millrace::video {
namespace {

constexpr std::string_view kBackground = "background=";
constexpr const char* kShown =
    "auto, film, mask, matte-files, overlay, side-by-side, alpha, blur, background=FILE or background=#rrggbb";

void parse_show(const std::string& text, VideoOptions& options) {
  options.background.clear();
  options.show.reset();
  if (text == "auto") return;
  if (text == "film") {
    options.show = ShownContent::film;
  } else if (text == "mask") {
    options.show = ShownContent::mask;
  } else if (text == "overlay") {
    options.show = ShownContent::overlay;
  } else if (text == "side-by-side") {
    options.show = ShownContent::side_by_side;
  } else if (text == "matte-files") {
    options.show = ShownContent::files;
  } else if (text == "alpha") {
    options.show = ShownContent::alpha;
  } else if (text == kBlur) {
    options.show = ShownContent::background;
    options.background = kBlur;
  } else if (text.starts_with(kBackground) && text.size() > kBackground.size()) {
    options.show = ShownContent::background;
    options.background = text.substr(kBackground.size());
  } else {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", escape_unprintable(text), kShown), "--write", "");
  }
}

// Parses "none", "standard", or NAME=VALUE,...
masks::Postprocess parse_postprocess(const std::string& text) {
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 40;
  constexpr long long kMaxDisc = 101;
  masks::Postprocess out;
  if (text == "none") return out;
  for (const std::string& part : split(text, ',')) {
    const std::size_t at = part.find('=');
    const std::string name(trim(std::string_view(part).substr(0, at)));
    const std::string value = at == std::string::npos ? "" : std::string(trim(std::string_view(part).substr(at + 1)));
    if (name == "hard" && value.empty()) {
      out.hard = true;
    } else if (name == "standard" && value.empty()) {
      out.area = out.holes = 1000;
      out.open = out.close = 5;
    } else if (name == "area") {
      out.area = parse_whole_number(value, 0, kMaxPixels);
    } else if (name == "holes") {
      out.holes = value == "all" ? -1 : parse_whole_number(value, 0, kMaxPixels);
    } else if (name == "open") {
      out.open = static_cast<int>(parse_whole_number(value, 0, kMaxDisc));
    } else if (name == "close") {
      out.close = static_cast<int>(parse_whole_number(value, 0, kMaxDisc));
    } else if (name == "guide") {
      constexpr long long kMaxRadius = 500;
      out.guide = static_cast<int>(parse_whole_number(value, 0, kMaxRadius));
    } else {
      throw Failure(
          ErrorCode::usage,
          fmt::format("'{}' is not none, hard, standard, or area=, holes=, open=, close=, guide= with a number",
                      escape_unprintable(part)),
          "--clean", "for example area=1000,holes=all,open=5,close=5");
    }
  }
  return out;
}

// Parses "90", "1:30", "0:01:30.5".
double seconds_of(const std::string& text) {
  constexpr double kMaxFirst = 1e7;
  double out = 0;
  const auto parts = split(text, ':');
  constexpr double kMaxFollowing = 59.999999;
  if (parts.size() > 3)
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not a time", escape_unprintable(text)), "",
                  "use seconds, mm:ss or h:mm:ss");
  for (std::size_t k = 0; k < parts.size(); ++k)
    out = out * 60 + parse_number(parts[k], 0, k == 0 ? kMaxFirst : kMaxFollowing);
  return out;
}

// Parses X,Y,W,H in pixels.
video_file::FrameRegion parse_region(const std::string& text) {
  const auto parts = split(text, ',');
  if (parts.size() != 4) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is neither auto nor X,Y,W,H", escape_unprintable(text)),
                  "--region", "for example 640,0,1280,1440: left, top, width and height in pixels");
  }
  const auto number = [&](std::size_t k, double least) {
    return parse_number(trim(parts[k]), least, video_file::kMaxSide);
  };
  return {number(0, 0), number(1, 0), number(2, 1), number(3, 1)};
}

}  // namespace

std::string VideoOptions::background_file() const {
  return background == kBlur || parse_color(background) ? std::string() : background;
}

void describe(Settings& settings, VideoOptions& options) {
  settings.add_text("output", "VIDEO|DIR",
                    fmt::format("name the new video ({}); DIR for several videos", video_file::known_endings()),
                    options.output);
  settings.add_parsed(
      "write", "auto|film|mask|overlay|side-by-side|alpha|blur|background=FILE|matte-files",
      "choose what the video shows; background=#rrggbb: a color; matte-files: PNG masks; auto: mask or film", "auto",
      [&options](const std::string& text) {
        parse_show(text, options);
        options.show_text = text;
      });
  settings.add_integer("sample", "K", "write only a contact sheet of K frames of the new video, as a .png; 0: off",
                       options.sample, 0, 400);
  settings.add_switch("benchmark", "measure each stage by itself and all together on the first frames; write no video",
                      options.benchmark);
  settings.add_text("tune", "FILE.yaml", "measure, and write the fastest settings to this file for --config",
                    options.tune);
  settings.set_heading("Model");
  describe_model(settings, options.network);
  millrace::describe(settings, options.network, "pixel counts as found", "frames");
  describe_precision(settings, options.network);
  describe_window(settings, options.network,
                  "set the side of the network's input; auto: the model's own, the card's, else 512");
  settings.set_heading("Mask");
  settings.add_parsed(
      "clean", "HOW",
      "postprocess masks: none, standard, or a list of hard, area=, holes=, open=, close=, guide= in pixels", "none",
      [&options](const std::string& text) {
        const double feather = options.postprocess.feather;
        options.postprocess = parse_postprocess(text);
        options.postprocess.feather = feather;
        options.postprocess_text = text;
      });
  settings.add_parsed(
      "feather", "PIXELS", "soften the edge of masks by a Gaussian with this standard deviation in pixels", "0",
      [&options](const std::string& text) { options.postprocess.feather = parse_number(text, 0, 500); });
  settings.add_integer("smooth", "N",
                       "average the masks of the last N frames, the latest weighted most: steadier, but it lags",
                       options.smooth, 1, 100);
  settings.add_choice("stereo",
                      "run the network on each eye of a stereo frame; left, right: one eye of side-by-side frames",
                      options.stereo);
  settings.add_choice("eyes", "combine the masks of both eyes by this rule, after aligning them", options.stereo_merge);
  settings.add_text("masks", "DIR", "use masks that an earlier run wrote as matte-files, instead of a model",
                    options.masks);
  settings.set_heading("Speed and detail");
  settings.add_parsed(
      "reuse", "T",
      "reuse a mask until a 16 x 16 tile of the network's input changes by more than T (0 to 1; try 0.03)", "off",
      [&options](const std::string& text) {
        options.reuse.reset();
        if (text != "off") options.reuse = parse_number(text, 0, 1);
      });
  settings.add_text("fast-model", "M2.onnx", "run this smaller network first; its card is M2.json beside it",
                    options.fast_model);
  settings.add_parsed("confidence", "C", "accept the fast model's mask if the mean of max(p, 1 - p) reaches C", "0.95",
                      [&options](const std::string& text) { options.confidence = parse_number(text, 0.5, 1); });
  settings.add_parsed("scales", "LIST",
                      "run the network at each of these scales and average; below 1: coarser, above 1: in tiles", "1",
                      [&options](const std::string& text) {
                        options.scales.clear();
                        for (const std::string& part : split(text, ','))
                          options.scales.push_back(parse_number(trim(part), 0.1, 8));
                        options.scales_text = text;
                      });
  settings.add_list("region", "X,Y,W,H|auto",
                    "run the network only in this region; auto: on the whole frame, then closer on what it found",
                    options.region_texts);
  settings.set_heading("Video");
  settings.add_choice(
      "codec", "set the codec; auto: h264 (h265 for HEVC and HDR), else the first that keeps all bits and colors",
      options.codec);
  settings.add_choice("container",
                      "set the container of videos from a folder; auto: the input's own if supported, else mkv",
                      options.container);
  settings.add_choice("quality",
                      "set the quality: low, medium, high are x264's CRF 28, 23, 18, or the like in other codecs",
                      options.quality);
  settings.add_parsed("crf", "N", "set the encoder's own quality number instead of --quality", "auto",
                      [&options](const std::string& text) {
                        options.crf.reset();
                        if (text != "auto") options.crf = parse_whole_number(text, 0, 63);
                      });
  settings.add_choice("profile", "set the encoder's speed: x264's veryfast, medium, slow, or the like in other codecs",
                      options.profile);
  settings.add_integer("encoder-threads", "N", "use N encoder threads; the number changes the output, unlike --threads",
                       options.encoder_threads, 1, 64);
  settings.add_integer("decoder-threads", "N",
                       "use N decoder threads; above 1, damaged videos decode differently from run to run",
                       options.decoder_threads, 1, 64);
  settings.add_parsed("segment", "SECONDS",
                      "make shards of this length; a run that was stopped resumes after the last complete one", "10",
                      [&options](const std::string& text) {
                        std::string_view number = text;
                        if (number.ends_with("s")) number.remove_suffix(1);
                        options.shard_seconds = parse_number(number, 0.1, 3600);
                      });
  millrace::describe(settings, options.shard_spec, "shard of a video (of several videos: every Nth video)",
                     "the last run merges the video");
  describe_mixed_hardware(settings, options.network);
  const auto add_time = [&](const char* name, const char* help, std::optional<double>& value) {
    settings.add_parsed(name, "TIME", help, "auto", [&value](const std::string& text) {
      value.reset();
      if (text != "auto") value = seconds_of(text);
    });
  };
  add_time("start", "begin at this time after the first frame, in seconds or h:mm:ss; auto: the first frame",
           options.start);
  add_time("end", "end at this time after the first frame, in seconds or h:mm:ss; auto: the last frame", options.end);
  settings.add_parsed("stream", "N", "use the video stream with this number; auto: the one that players show", "auto",
                      [&options](const std::string& text) {
                        options.stream.reset();
                        if (text != "auto") options.stream = parse_whole_number(text, 0, 1000);
                      });
  settings.set_heading("Input files");
  millrace::describe(settings, options.files);
}

namespace {

[[noreturn]] void refuse(const std::string& what, const char* option, const std::string& remedy) {
  throw Failure(ErrorCode::usage, what, option, remedy);
}

}  // namespace

void check_collection(const VideoOptions& options) {
  if (options.output.empty())
    refuse("an output is needed", "-o", "name a folder for the new videos, for example -o masked");
  if (options.output == "-") refuse("several videos are written to a folder, not to stdout", "-o", "name a folder");
  if (!video_file::container_of(options.output).empty())
    refuse(fmt::format("several videos are written to a folder, and '{}' is the name of a video",
                       escape_unprintable(options.output)),
           "-o", "name a folder; videos are not joined into one");
  if (options.sample > 0) refuse("it works on a single video", "--sample", "name one video");
  if (options.benchmark) refuse("it works on a single video", "--benchmark", "name one video");
  if (!options.tune.empty()) refuse("it works on a single video", "--tune", "name one video");
}

namespace {

void read_regions(VideoOptions& options) {
  options.regions.clear();
  options.refine_region = false;
  for (const std::string& text : options.region_texts) {
    if (text == "auto") {
      options.refine_region = true;
    } else {
      options.regions.push_back(parse_region(text));
    }
  }
}

void check_output_option(VideoOptions& options) {
  if (options.inputs.empty()) refuse("no video was named", "VIDEO", "name it: millrace video film.mp4 -o masked.mp4");
  if (options.container != Container::automatic)
    refuse("it is only for folders of videos", "--container",
           "for a single video the name after -o decides: -o film.mkv");
  const bool measures = options.benchmark || !options.tune.empty();
  if (measures && options.output.empty())
    options.output = options.shown() == ShownContent::files ? "masks" : "film.mp4";
  if (options.output.empty()) refuse("an output is needed", "-o", "name the new video, for example -o masked.mp4");
  const ShownContent show = options.shown();
  if (options.sample > 0 && !lower_ascii(options.output).ends_with(".png"))
    refuse("a contact sheet is a PNG", "-o", "name a .png, for example --sample 12 -o sheet.png");
  if (options.sample == 0 && show != ShownContent::files && video_file::container_of(options.output).empty())
    refuse(fmt::format("'{}' has no file name ending of a supported video format", escape_unprintable(options.output)),
           "-o", fmt::format("use {}, or --write matte-files for a folder of masks", video_file::known_endings()));
}

void check_masks(const VideoOptions& options) {
  const ShownContent show = options.shown();
  const bool model = !options.network.model.empty(), masks = !options.masks.empty();
  if (show != ShownContent::film && !model && !masks)
    refuse("a model is needed", "--model", "name an ONNX file, for example --model person.onnx");
  if (show == ShownContent::film && (model || masks))
    refuse("the video itself needs no masks", "--write", "leave --model and --masks out, or write something else");
  if (model && masks) refuse("masks come either from a model or from files", "--masks", "leave --model or --masks out");
  if (show == ShownContent::files && masks && !options.postprocess.any() && options.smooth == 1)
    refuse("these masks exist already", "--masks",
           "write something else, or change them with --clean, --feather or --smooth");
  if (options.network.threshold && !options.postprocess.any() && !options.refine_region)
    refuse("it affects only --clean and --region auto, and neither is used", "--threshold",
           "for masks in black and white, add --clean hard");
  if (options.crf && options.quality == Quality::lossless)
    refuse("it cannot be used with --quality lossless", "--crf", "leave --crf or --quality lossless out");
  if (options.background.starts_with("#") && !parse_color(options.background))
    refuse(fmt::format("'{}' is not a color", escape_unprintable(options.background)), "--write",
           "use #rrggbb, for example background=#00b140");
}

// Names the first option in use that changes masks, for a message.
const char* mask_option_of(const VideoOptions& options) {
  if (options.postprocess.any()) return options.postprocess_text == "none" ? "--feather" : "--clean";
  if (options.smooth > 1) return "--smooth";
  if (options.reuse) return "--reuse";
  if (options.stereo != Stereo::none) return "--stereo";
  return options.scales_text == "1" ? "--region" : "--scales";
}

void check_views(const VideoOptions& options) {
  const bool model = !options.network.model.empty(), masks = !options.masks.empty();
  const int ways = (options.stereo != Stereo::none ? 1 : 0) + (options.regions.empty() ? 0 : 1) +
                   (options.refine_region ? 1 : 0) + (options.scales_text == "1" ? 0 : 1);
  if (ways > 1)
    refuse("--stereo, --scales, --region X,Y,W,H and --region auto exclude each other", "--region", "use one of them");
  if (!options.fast_model.empty() && (ways > 0 || !model))
    refuse("it runs only before a model that sees the whole frame", "--fast-model",
           "add --model, and leave --stereo, --scales and --region out");
  const bool sees = model || masks;
  if (!sees && (options.postprocess.any() || options.smooth > 1 || options.reuse || ways > 0))
    refuse(
        "there are no masks to change", mask_option_of(options),
        "add --model or --masks, or leave --clean, --feather, --smooth, --reuse, --stereo, --scales and --region out");
  if (masks && (options.reuse || ways > 0))
    refuse("masks are read from files, so no network runs", "--masks",
           "leave --reuse, --stereo, --scales and --region out");
}

}  // namespace

void check(VideoOptions& options) {
  read_regions(options);
  check_output_option(options);
  check_masks(options);
  if (options.start && options.end && *options.start >= *options.end)
    refuse("it is not after --start", "--end", "use a later time");
  check_views(options);
}

}  // namespace millrace::video
