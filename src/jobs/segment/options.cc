#include "src/jobs/segment/options.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/base/values.h"
#include "src/jobs/model_options.h"

namespace millrace::segment {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& option, const std::string& wanted) {
  throw Failure(ErrorCode::usage, fmt::format("'{}' is not {}", printable(text), wanted), option, "");
}

constexpr const char* kWritten = "mask, probability, overlay, contours or csv";

Written parse_written(const std::string& text) {
  Written out;
  for (const std::string& part : split(text, ',')) {
    const std::string_view name = trim(part);
    if (name == "mask") {
      out.mask = true;
    } else if (name == "probability") {
      out.probability = true;
    } else if (name == "overlay") {
      out.overlay = true;
    } else if (name == "contours") {
      out.contours = true;
    } else if (name != "csv") {  // which is always written
      refuse(std::string(name), "--write", kWritten);
    }
  }
  return out;
}

}  // namespace

void describe(Settings& settings, Options& options) {
  settings.add_text("output", "DIR", "the folder of results; it is made", options.output);
  settings.add_parsed("write", "LIST",
                      "what is written of a picture: mask, probability, overlay, contours; csv: the table alone, which "
                      "is always written",
                      options.write_text, [&options](const std::string& text) {
                        options.write = parse_written(text);
                        options.write_text = text;
                      });
  settings.add_choice(
      "format",
      "of masks, probabilities and overlays; PNG holds no probabilities, which then are NPY, and arrays "
      "are no pictures: overlays then are PNG",
      options.format);
  millrace::describe(settings, options.share, "picture", "the last of them writes the table");
  settings.heading("The model");
  millrace::describe(settings, options.network, "pixel of the mask is set", "windows");
  settings.add_switch("describe", "write a first card for --model to stdout, and do nothing else", options.describe);
  settings.heading("Windows");
  describe_window(settings, options.network, "side of a window; auto: the model's own, the card's, or 512");
  settings.add_parsed("overlap", "X", "of neighbouring windows, as a share of one", "0.5",
                      [&options](const std::string& text) { options.overlap = number_of(text, 0, 0.9999); });
  settings.add_choice("importance", "what a window's pixels count where windows overlap", options.importance);
  settings.add_choice("pad", "what lies around a picture that is smaller than a window", options.padding);
  settings.add_text("roi", "MASK|DIR",
                    "leave out windows where this picture, of the photograph's own size, is black; of a folder the one "
                    "of the same name, or with .png behind it or in place of its ending",
                    options.roi);
  settings.add_switch(
      "skip-empty", "leave out windows in which the pixels of every channel lie within 16 of 255 levels of each other",
      options.skip_empty);
  settings.heading("Which pictures");
  millrace::describe(settings, options.files);
}

}  // namespace millrace::segment
