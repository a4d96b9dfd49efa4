#include "src/jobs/video/options.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/base/values.h"
#include "src/io/video/film_muxer.h"
#include "src/jobs/model_options.h"

namespace millrace::video {
namespace {

constexpr std::string_view kBackground = "background=";
constexpr const char* kShown =
    "film, mask, matte-files, overlay, side-by-side, alpha, blur, or background=FILE or #rrggbb";

void parse_show(const std::string& text, Options& options) {
  options.background.clear();
  options.show.reset();
  if (text == "auto") return;
  if (text == "film") {
    options.show = Show::film;
  } else if (text == "mask") {
    options.show = Show::mask;
  } else if (text == "overlay") {
    options.show = Show::overlay;
  } else if (text == "side-by-side") {
    options.show = Show::side_by_side;
  } else if (text == "matte-files") {
    options.show = Show::files;
  } else if (text == "alpha") {
    options.show = Show::alpha;
  } else if (text == kBlur) {
    options.show = Show::background;
    options.background = kBlur;
  } else if (text.starts_with(kBackground) && text.size() > kBackground.size()) {
    options.show = Show::background;
    options.background = text.substr(kBackground.size());
  } else {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", printable(text), kShown), "--write", "");
  }
}

// Parses "none", "standard", or NAME=VALUE,...
matte::Cleaning parse_cleaning(const std::string& text) {
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 40;
  constexpr long long kMostDisc = 101;
  matte::Cleaning out;
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
      out.area = whole_number_of(value, 0, kMostPixels);
    } else if (name == "holes") {
      out.holes = value == "all" ? -1 : whole_number_of(value, 0, kMostPixels);
    } else if (name == "open") {
      out.open = static_cast<int>(whole_number_of(value, 0, kMostDisc));
    } else if (name == "close") {
      out.close = static_cast<int>(whole_number_of(value, 0, kMostDisc));
    } else if (name == "guide") {
      constexpr long long kMostRadius = 500;
      out.guide = static_cast<int>(whole_number_of(value, 0, kMostRadius));
    } else {
      throw Failure(
          ErrorCode::usage,
          fmt::format("'{}' is not none, hard, standard, or area=, holes=, open=, close=, guide= with a number",
                      printable(part)),
          "--clean", "for example area=1000,holes=all,open=5,close=5");
    }
  }
  return out;
}

// Parses "90", "1:30", "0:01:30.5".
double seconds_of(const std::string& text) {
  constexpr double kMost = 1e7;
  double out = 0;
  const auto parts = split(text, ':');
  constexpr double kMostBehind = 59.999999;
  if (parts.size() > 3)
    throw Failure(ErrorCode::usage, fmt::format("'{}' is no time", printable(text)), "", "h:mm:ss, mm:ss or seconds");
  for (std::size_t k = 0; k < parts.size(); ++k) out = out * 60 + number_of(parts[k], 0, k == 0 ? kMost : kMostBehind);
  return out;
}

// Parses X,Y,W,H in pixels.
film::Region parse_region(const std::string& text) {
  const auto parts = split(text, ',');
  if (parts.size() != 4) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is neither auto nor X,Y,W,H", printable(text)), "--region",
                  "for example 640,0,1280,1440: left, top, width and height in pixels");
  }
  const auto number = [&](std::size_t k, double least) { return number_of(trim(parts[k]), least, film::kMostSide); };
  return {number(0, 0), number(1, 0), number(2, 1), number(3, 1)};
}

}  // namespace

std::string Options::background_file() const {
  return background == kBlur || color_of(background) ? std::string() : background;
}

void describe(Settings& settings, Options& options) {
  settings.add_text(
      "output", "FILM",
      fmt::format("the new film: {}; of several films, or a folder of them, a folder", film::known_endings()),
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
  settings.heading("The model");
  describe_one(settings, options.network);
  millrace::describe(settings, options.network, "pixel counts as found", "frames");
  describe_precision(settings, options.network);
  describe_window(settings, options.network, "side of its input; auto: the model's own, the card's, or 512");
  settings.heading("The mask");
  settings.add_parsed("clean", "HOW",
                      "what is too small to be meant goes: none, standard, or a list of hard (black and white alone), "
                      "area=PIXELS (smaller parts), "
                      "holes=PIXELS (smaller holes; all: whatever touches no side), open=PIXELS, close=PIXELS "
                      "(diameters of discs), guide=PIXELS (the radius in which an edge is moved to the picture's own); "
                      "in the film's own pixels",
                      "none", [&options](const std::string& text) {
                        const double feather = options.cleaning.feather;
                        options.cleaning = parse_cleaning(text);
                        options.cleaning.feather = feather;
                        options.clean_text = text;
                      });
  settings.add_parsed("feather", "PIXELS", "softens its edge: the deviation of a Gaussian, in the film's pixels", "0",
                      [&options](const std::string& text) { options.cleaning.feather = number_of(text, 0, 500); });
  settings.add_integer("smooth", "N",
                       "the mean of the masks of so many frames, the latest counting most: steadier, and it lags",
                       options.smooth, 1, 100);
  settings.add_choice("stereo", "two eyes in a picture, each looked at by itself; left, right: one of two side by side",
                      options.stereo);
  settings.add_choice("eyes", "what becomes of masks that do not agree, once one is moved to fit the other",
                      options.eyes);
  settings.add_text("masks", "DIR", "masks that an earlier run has written as matte-files, instead of a model",
                    options.masks);
  settings.heading("Less work, or a closer look");
  settings.add_parsed(
      "reuse", "T",
      "the last mask stands as long as no tile of 16 x 16 pixels of the network's input differs by more "
      "than T of 1 from when it was made; off: never; 0.03 is a beginning",
      "off", [&options](const std::string& text) {
        options.reuse.reset();
        if (text != "off") options.reuse = number_of(text, 0, 1);
      });
  settings.add_text("fast-model", "M2.onnx", "a smaller network that is asked first; its card is M2.json beside it",
                    options.fast_model);
  settings.add_parsed("confidence", "C", "its mask stands where the mean of max(p, 1 - p) reaches this", "0.95",
                      [&options](const std::string& text) { options.confidence = number_of(text, 0.5, 1); });
  settings.add_parsed(
      "scales", "LIST",
      "how large the network sees the film, the mean of all: below 1 less than it could see, above 1 in "
      "parts",
      "1", [&options](const std::string& text) {
        options.scales.clear();
        for (const std::string& part : split(text, ',')) options.scales.push_back(number_of(trim(part), 0.1, 8));
        options.scales_text = text;
      });
  settings.add_list(
      "region", "X,Y,W,H|auto",
      "where the network looks, in pixels, instead of everywhere; auto: everywhere first, and then closer "
      "at what it found",
      options.region_texts);
  settings.heading("The film");
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
                        if (text != "auto") options.crf = whole_number_of(text, 0, 63);
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
                        options.segment_seconds = number_of(number, 0.1, 3600);
                      });
  millrace::describe(settings, options.share, "piece of a film, or of several films every Nth film",
                     "the last of them puts a film together");
  describe_mixed(settings, options.network);
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
                        if (text != "auto") options.stream = whole_number_of(text, 0, 1000);
                      });
  settings.heading("Which films");
  millrace::describe(settings, options.files);
}

void check_collection(const Options& options) {
  const auto refuse = [](const std::string& what, const char* option, const std::string& remedy) {
    throw Failure(ErrorCode::usage, what, option, remedy);
  };
  if (options.output.empty())
    refuse("an output is needed", "-o", "name a folder for the new films, for example -o masked");
  if (options.output == "-")
    refuse("films become a folder, and a folder is not written to stdout", "-o", "name a folder");
  if (!film::container_of(options.output).empty())
    refuse(fmt::format("several films become a folder, and '{}' is the name of a film", printable(options.output)),
           "-o", "name a folder; films are not put together into one");
  if (options.sample > 0) refuse("it shows one film", "--sample", "name one film");
  if (options.benchmark) refuse("it measures one film", "--benchmark", "name one film");
  if (!options.tune.empty()) refuse("it measures one film", "--tune", "name one film");
}

void check(Options& options) {
  const auto refuse = [](const std::string& what, const char* option, const std::string& remedy) {
    throw Failure(ErrorCode::usage, what, option, remedy);
  };
  options.regions.clear();
  options.look_closer = false;
  for (const std::string& text : options.region_texts) {
    if (text == "auto") {
      options.look_closer = true;
    } else {
      options.regions.push_back(parse_region(text));
    }
  }
  if (options.inputs.empty()) refuse("a film is needed", "FILM", "name it: millrace video film.mp4 -o masked.mp4");
  if (options.container != Container::automatic)
    refuse("it is of folders of films", "--container", "of a single film the name of -o says it: -o film.mkv");
  const bool measures = options.benchmark || !options.tune.empty();
  if (measures && options.output.empty()) options.output = options.shown() == Show::files ? "masks" : "film.mp4";
  if (options.output.empty()) refuse("an output is needed", "-o", "name the new film, for example -o masked.mp4");
  const Show show = options.shown();
  if (options.sample > 0 && !lower_ascii(options.output).ends_with(".png"))
    refuse("a sheet is a PNG", "-o", "for example --sample 12 -o sheet.png");
  if (options.sample == 0 && show != Show::files && film::container_of(options.output).empty())
    refuse(fmt::format("'{}' has no ending that says which kind of film", printable(options.output)), "-o",
           fmt::format("it may end in {}; a folder is for --write matte-files", film::known_endings()));
  const bool model = !options.network.model.empty(), masks = !options.masks.empty();
  if (show != Show::film && !model && !masks)
    refuse("a model is needed", "--model", "name an ONNX file, for example --model person.onnx");
  if (show == Show::film && (model || masks))
    refuse("the film itself needs no masks", "--write", "leave --model and --masks out, or write something else");
  if (model && masks) refuse("masks come from a model or from files", "--masks", "leave one of them out");
  if (show == Show::files && masks && !options.cleaning.any() && options.smooth == 1)
    refuse("these files are there already", "--masks",
           "write something else, or change them by --clean, --feather or --smooth");
  if (options.network.threshold && !options.cleaning.any() && !options.look_closer)
    refuse("it says what --clean and --region auto look at, and neither is asked for", "--threshold",
           "--clean hard makes masks of black and white alone");
  if (options.crf && options.quality == Quality::lossless)
    refuse("a film is lossless, or of this quality", "--crf", "leave --crf or --quality lossless out");
  if (options.background.starts_with("#") && !color_of(options.background))
    refuse(fmt::format("'{}' is no colour", printable(options.background)), "--write",
           "for example background=#00b140");
  const int ways = (options.stereo != Stereo::none ? 1 : 0) + (options.regions.empty() ? 0 : 1) +
                   (options.look_closer ? 1 : 0) + (options.scales_text == "1" ? 0 : 1);
  if (ways > 1)
    refuse("--stereo, --scales, --region X,Y,W,H and --region auto each say where a network looks", "--region",
           "give one of them");
  if (!options.fast_model.empty() && (ways > 0 || !model))
    refuse("it is asked first where another model sees the whole picture", "--fast-model",
           "give --model too, and none of --stereo, --scales and --region");
  if (options.start && options.end && *options.start >= *options.end)
    refuse("it is not behind --start", "--end", "give a later one");
  const bool sees = model || masks;
  if (!sees && (options.cleaning.any() || options.smooth > 1 || options.reuse || ways > 0))
    refuse("it needs masks to work at", "--clean", "give --model or --masks, or leave what works at masks out");
  if (masks && (options.reuse || ways > 0))
    refuse("with --masks nothing is looked at", "--masks", "leave --reuse, --stereo, --scales and --region out");
}

}  // namespace millrace::video
