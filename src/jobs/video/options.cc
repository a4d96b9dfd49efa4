#include "src/jobs/video/options.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/base/values.h"
#include "src/io/video/film_muxer.h"
#include "src/jobs/model_options.h"

namespace millrace::video {
namespace {

constexpr std::string_view kBackground = "background=";
constexpr const char* kShown = "film, mask, overlay, side-by-side, alpha, blur, or background=FILE or #rrggbb";

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
  } else if (text == "alpha") {
    options.show = Show::alpha;
  } else if (text == "blur") {
    options.show = Show::background;
    options.background = "blur";
  } else if (text.starts_with(kBackground) && text.size() > kBackground.size()) {
    options.show = Show::background;
    options.background = text.substr(kBackground.size());
  } else {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", printable(text), kShown), "--write", "");
  }
}

}  // namespace

void describe(Settings& settings, Options& options) {
  settings.add_text("output", "FILM", fmt::format("the new film: {}", film::known_endings()), options.output);
  settings.add_parsed("write", "WHAT",
                      "what it shows: film, mask, overlay, side-by-side, alpha, blur, background=FILE or "
                      "background=#rrggbb; auto: the mask, or without a model the film",
                      "auto", [&options](const std::string& text) {
                        parse_show(text, options);
                        options.show_text = text;
                      });
  settings.heading("The model");
  millrace::describe(settings, options.network, "pixel counts as found", "frames");
  describe_window(settings, options.network, "side of its input; auto: the model's own, the card's, or 512");
  settings.heading("The film");
  settings.add_choice("codec",
                      "of the new film's pictures; auto: h264, vp9 in WebM and where sides are odd, ffv1, prores or vp9 "
                      "where something is transparent",
                      options.codec);
  settings.add_choice("quality", "low, medium and high are a CRF of 28, 23 and 18 of x264, and what is like it elsewhere",
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
  settings.add_integer("decoder-threads", "N", "of the decoder", options.decoder_threads, 1, 64);
  settings.add_parsed("segment", "SECONDS",
                      "the film is made in pieces of so much, which a run that was stopped need not make again", "10",
                      [&options](const std::string& text) {
                        std::string_view number = text;
                        if (number.ends_with("s")) number.remove_suffix(1);
                        options.segment_seconds = number_of(number, 0.1, 3600);
                      });
  settings.add_parsed("stream", "N", "the stream of pictures to work at, by its number; auto: the one players show",
                      "auto", [&options](const std::string& text) {
                        options.stream.reset();
                        if (text != "auto") options.stream = whole_number_of(text, 0, 1000);
                      });
}

void check(const Options& options) {
  const auto refuse = [](const std::string& what, const char* option, const std::string& remedy) {
    throw Failure(ErrorCode::usage, what, option, remedy);
  };
  if (options.inputs.empty()) refuse("a film is needed", "FILM", "name it: millrace video film.mp4 -o masked.mp4");
  if (options.inputs.size() > 1) refuse("one film at a time", "FILM", "run it once for each");
  if (options.output.empty()) refuse("an output is needed", "-o", "name the new film, for example -o masked.mp4");
  if (film::container_of(options.output).empty())
    refuse(fmt::format("'{}' has no ending that says which kind of film", printable(options.output)), "-o",
           fmt::format("it may end in {}", film::known_endings()));
  if (options.shown() != Show::film && options.network.model.empty())
    refuse("a model is needed", "--model", "name an ONNX file, for example --model person.onnx");
  if (options.shown() == Show::film && !options.network.model.empty())
    refuse("the film itself needs no model", "--write", "leave --model out, or write something else");
}

}  // namespace millrace::video
