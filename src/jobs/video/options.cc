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
    "film, mask, matte-files, overlay, side-by-side, alpha, blur, or background=FILE or #rrggbb";

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
    throw Failure(ErrorCode::usage, fmt::format("'{}' is no time", escape_unprintable(text)), "",
                  "h:mm:ss, mm:ss or seconds");
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
  settings.add_text(
      "output", "FILM",
      fmt::format("the new film: {}; of several films, or a folder of them, a folder", video_file::known_endings()),
      options.output);
  settings.add_parsed("write", "WHAT",
                      "what it shows: film, mask, overlay, side-by-side, alpha, blur, background=FILE or "
                      "background=#rrggbb; matte-files: masks alone, a PNG each, and FILM is a folder; auto: the mask, "
                      "or without a model the film",
                      "auto", [&options](const std::string& text) {
                        parse_show(text, options);
                        options.show_text = text;
                      });
  settings.add_integer("sample", "K", "only a sheet of K pictures of what the film would be: FILM is a .png",
                       options.sample, 0, 400);
  settings.add_switch("benchmark", "only measures each stage by itself, and all together, on the film's beginning",
                      options.benchmark);
  settings.add_text("tune", "FILE.yaml", "measures, and writes the settings that are fastest here, for --config",
                    options.tune);
  settings.set_heading("The model");
  describe_model(settings, options.network);
  millrace::describe(settings, options.network, "pixel counts as found", "frames");
  describe_precision(settings, options.network);
  describe_window(settings, options.network, "side of its input; auto: the model's own, the card's, or 512");
  settings.set_heading("The mask");
  settings.add_parsed("clean", "HOW",
                      "what is too small to be meant goes: none, standard, or a list of hard (black and white alone), "
                      "area=PIXELS (smaller parts), "
                      "holes=PIXELS (smaller holes; all: whatever touches no side), open=PIXELS, close=PIXELS "
                      "(diameters of discs), guide=PIXELS (the radius in which an edge is moved to the picture's own); "
                      "in the film's own pixels",
                      "none", [&options](const std::string& text) {
                        const double feather = options.postprocess.feather;
                        options.postprocess = parse_postprocess(text);
                        options.postprocess.feather = feather;
                        options.postprocess_text = text;
                      });
  settings.add_parsed(
      "feather", "PIXELS", "softens its edge: the deviation of a Gaussian, in the film's pixels", "0",
      [&options](const std::string& text) { options.postprocess.feather = parse_number(text, 0, 500); });
  settings.add_integer("smooth", "N",
                       "the mean of the masks of so many frames, the latest counting most: steadier, and it lags",
                       options.smooth, 1, 100);
  settings.add_choice("stereo", "two eyes in a picture, each looked at by itself; left, right: one of two side by side",
                      options.stereo);
  settings.add_choice("eyes", "what becomes of masks that do not agree, once one is moved to fit the other",
                      options.stereo_merge);
  settings.add_text("masks", "DIR", "masks that an earlier run has written as matte-files, instead of a model",
                    options.masks);
  settings.set_heading("Less work, or a closer look");
  settings.add_parsed(
      "reuse", "T",
      "the last mask stands as long as no tile of 16 x 16 pixels of the network's input differs by more "
      "than T of 1 from when it was made; off: never; 0.03 is a beginning",
      "off", [&options](const std::string& text) {
        options.reuse.reset();
        if (text != "off") options.reuse = parse_number(text, 0, 1);
      });
  settings.add_text("fast-model", "M2.onnx", "a smaller network that is asked first; its card is M2.json beside it",
                    options.fast_model);
  settings.add_parsed("confidence", "C", "its mask stands where the mean of max(p, 1 - p) reaches this", "0.95",
                      [&options](const std::string& text) { options.confidence = parse_number(text, 0.5, 1); });
  settings.add_parsed(
      "scales", "LIST",
      "how large the network sees the film, the mean of all: below 1 less than it could see, above 1 in "
      "parts",
      "1", [&options](const std::string& text) {
        options.scales.clear();
        for (const std::string& part : split(text, ',')) options.scales.push_back(parse_number(trim(part), 0.1, 8));
        options.scales_text = text;
      });
  settings.add_list(
      "region", "X,Y,W,H|auto",
      "where the network looks, in pixels, instead of everywhere; auto: everywhere first, and then closer "
      "at what it found",
      options.region_texts);
  settings.set_heading("The film");
  settings.add_choice(
      "codec",
      "of the new film's pictures; auto: h264 (h265 for a film in HEVC or HDR), or else the first of vp9, prores, "
      "av1 and ffv1 that holds it as it is",
      options.codec);
  settings.add_choice("container",
                      "of the films made of a folder of films; auto: each one's own where this program writes it, else "
                      "mkv; a single film's is said by its name",
                      options.container);
  settings.add_choice("quality",
                      "low, medium and high are a CRF of 28, 23 and 18 of x264, and what is like it elsewhere",
                      options.quality);
  settings.add_parsed("crf", "N", "the encoder's own number for quality, instead", "auto",
                      [&options](const std::string& text) {
                        options.crf.reset();
                        if (text != "auto") options.crf = parse_whole_number(text, 0, 63);
                      });
  settings.add_choice("profile", "how long an encoder may think: x264's veryfast, medium and slow, and what is like it",
                      options.profile);
  settings.add_integer("encoder-threads", "N", "of the encoder; part of what it makes, which --threads is not",
                       options.encoder_threads, 1, 64);
  settings.add_integer("decoder-threads", "N",
                       "of the decoder; with more than one a damaged film is not the same each time",
                       options.decoder_threads, 1, 64);
  settings.add_parsed("segment", "SECONDS",
                      "the film is made in pieces of so much, which a run that was stopped need not make again", "10",
                      [&options](const std::string& text) {
                        std::string_view number = text;
                        if (number.ends_with("s")) number.remove_suffix(1);
                        options.shard_seconds = parse_number(number, 0.1, 3600);
                      });
  millrace::describe(settings, options.shard_spec, "piece of a film, or of several films every Nth film",
                     "the last of them puts a film together");
  describe_mixed_hardware(settings, options.network);
  const auto add_time = [&](const char* name, const char* help, std::optional<double>& value) {
    settings.add_parsed(name, "TIME", help, "auto", [&value](const std::string& text) {
      value.reset();
      if (text != "auto") value = seconds_of(text);
    });
  };
  add_time("start", "where to begin: seconds, or h:mm:ss, behind the film's first picture", options.start);
  add_time("end", "where to end, likewise", options.end);
  settings.add_parsed("stream", "N", "the stream of pictures to work at, by its number; auto: the one players show",
                      "auto", [&options](const std::string& text) {
                        options.stream.reset();
                        if (text != "auto") options.stream = parse_whole_number(text, 0, 1000);
                      });
  settings.set_heading("Which films");
  millrace::describe(settings, options.files);
}

void check_collection(const VideoOptions& options) {
  const auto refuse = [](const std::string& what, const char* option, const std::string& remedy) {
    throw Failure(ErrorCode::usage, what, option, remedy);
  };
  if (options.output.empty())
    refuse("an output is needed", "-o", "name a folder for the new films, for example -o masked");
  if (options.output == "-")
    refuse("films become a folder, and a folder is not written to stdout", "-o", "name a folder");
  if (!video_file::container_of(options.output).empty())
    refuse(fmt::format("several films become a folder, and '{}' is the name of a film",
                       escape_unprintable(options.output)),
           "-o", "name a folder; films are not put together into one");
  if (options.sample > 0) refuse("it shows one film", "--sample", "name one film");
  if (options.benchmark) refuse("it measures one film", "--benchmark", "name one film");
  if (!options.tune.empty()) refuse("it measures one film", "--tune", "name one film");
}

void check(VideoOptions& options) {
  const auto refuse = [](const std::string& what, const char* option, const std::string& remedy) {
    throw Failure(ErrorCode::usage, what, option, remedy);
  };
  options.regions.clear();
  options.refine_region = false;
  for (const std::string& text : options.region_texts) {
    if (text == "auto") {
      options.refine_region = true;
    } else {
      options.regions.push_back(parse_region(text));
    }
  }
  if (options.inputs.empty()) refuse("a film is needed", "FILM", "name it: millrace video film.mp4 -o masked.mp4");
  if (options.container != Container::automatic)
    refuse("it is of folders of films", "--container", "of a single film the name of -o says it: -o film.mkv");
  const bool measures = options.benchmark || !options.tune.empty();
  if (measures && options.output.empty())
    options.output = options.shown() == ShownContent::files ? "masks" : "film.mp4";
  if (options.output.empty()) refuse("an output is needed", "-o", "name the new film, for example -o masked.mp4");
  const ShownContent show = options.shown();
  if (options.sample > 0 && !lower_ascii(options.output).ends_with(".png"))
    refuse("a sheet is a PNG", "-o", "for example --sample 12 -o sheet.png");
  if (options.sample == 0 && show != ShownContent::files && video_file::container_of(options.output).empty())
    refuse(fmt::format("'{}' has no ending that says which kind of film", escape_unprintable(options.output)), "-o",
           fmt::format("it may end in {}; a folder is for --write matte-files", video_file::known_endings()));
  const bool model = !options.network.model.empty(), masks = !options.masks.empty();
  if (show != ShownContent::film && !model && !masks)
    refuse("a model is needed", "--model", "name an ONNX file, for example --model person.onnx");
  if (show == ShownContent::film && (model || masks))
    refuse("the film itself needs no masks", "--write", "leave --model and --masks out, or write something else");
  if (model && masks) refuse("masks come from a model or from files", "--masks", "leave one of them out");
  if (show == ShownContent::files && masks && !options.postprocess.any() && options.smooth == 1)
    refuse("these files are there already", "--masks",
           "write something else, or change them by --clean, --feather or --smooth");
  if (options.network.threshold && !options.postprocess.any() && !options.refine_region)
    refuse("it says what --clean and --region auto look at, and neither is asked for", "--threshold",
           "--clean hard makes masks of black and white alone");
  if (options.crf && options.quality == Quality::lossless)
    refuse("a film is lossless, or of this quality", "--crf", "leave --crf or --quality lossless out");
  if (options.background.starts_with("#") && !parse_color(options.background))
    refuse(fmt::format("'{}' is no colour", escape_unprintable(options.background)), "--write",
           "for example background=#00b140");
  const int ways = (options.stereo != Stereo::none ? 1 : 0) + (options.regions.empty() ? 0 : 1) +
                   (options.refine_region ? 1 : 0) + (options.scales_text == "1" ? 0 : 1);
  if (ways > 1)
    refuse("--stereo, --scales, --region X,Y,W,H and --region auto each say where a network looks", "--region",
           "give one of them");
  if (!options.fast_model.empty() && (ways > 0 || !model))
    refuse("it is asked first where another model sees the whole picture", "--fast-model",
           "give --model too, and none of --stereo, --scales and --region");
  if (options.start && options.end && *options.start >= *options.end)
    refuse("it is not behind --start", "--end", "give a later one");
  const bool sees = model || masks;
  if (!sees && (options.postprocess.any() || options.smooth > 1 || options.reuse || ways > 0))
    refuse("it needs masks to work at", "--clean", "give --model or --masks, or leave what works at masks out");
  if (masks && (options.reuse || ways > 0))
    refuse("with --masks nothing is looked at", "--masks", "leave --reuse, --stereo, --scales and --region out");
}

}  // namespace millrace::video
