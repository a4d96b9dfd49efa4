// Input: what a person asks of `millrace video`.
// Output: checked options; what nobody gave is left to the model's card, or to the film.
// Never: touches a file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "src/base/choice.h"
#include "src/base/settings.h"
#include "src/io/video/colors.h"
#include "src/jobs/folder_options.h"
#include "src/kernels/matte/clean.h"
#include "src/model/picture_model.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace::video {

// What the new film shows.
enum class Show : std::uint8_t {
  film,          // itself
  mask,          // white where the model sees what it looks for
  overlay,       // the film, that tinted
  side_by_side,  // the film, and the mask on its right
  files,         // masks alone, a file each
  alpha,         // the film, all else transparent
  background     // the film, all else replaced by a picture, a colour, or itself blurred
};

enum class Codec : std::uint8_t { automatic, h264, h265, vp9, av1, prores, ffv1 };
constexpr std::array<Choice<Codec>, 7> choices_of(Codec) {
  return {{{"auto", Codec::automatic},
           {"h264", Codec::h264},
           {"h265", Codec::h265},
           {"vp9", Codec::vp9},
           {"av1", Codec::av1},
           {"prores", Codec::prores},
           {"ffv1", Codec::ffv1}}};
}

enum class Quality : std::uint8_t { low, medium, high, lossless };
constexpr std::array<Choice<Quality>, 4> choices_of(Quality) {
  return {
      {{"low", Quality::low}, {"medium", Quality::medium}, {"high", Quality::high}, {"lossless", Quality::lossless}}};
}

// How long an encoder may think about a frame.
enum class Profile : std::uint8_t { fast, balanced, quality };
constexpr std::array<Choice<Profile>, 3> choices_of(Profile) {
  return {{{"fast", Profile::fast}, {"balanced", Profile::balanced}, {"quality", Profile::quality}}};
}

// How two eyes lie in a picture.
enum class Stereo : std::uint8_t { none, side_by_side, over_under, left, right };
constexpr std::array<Choice<Stereo>, 5> choices_of(Stereo) {
  return {{{"none", Stereo::none},
           {"side-by-side", Stereo::side_by_side},
           {"over-under", Stereo::over_under},
           {"left", Stereo::left},
           {"right", Stereo::right}}};
}
// What becomes of the masks of two eyes that do not agree.
enum class Eyes : std::uint8_t { average, weighted, cross_check };
constexpr std::array<Choice<Eyes>, 3> choices_of(Eyes) {
  return {{{"average", Eyes::average}, {"weighted", Eyes::weighted}, {"cross-check", Eyes::cross_check}}};
}

// Of the new films of a folder of films; of a single one its name says it.
enum class Container : std::uint8_t { automatic, mp4, mov, mkv, webm };
constexpr std::array<Choice<Container>, 5> choices_of(Container) {
  return {{{"auto", Container::automatic},
           {"mp4", Container::mp4},
           {"mov", Container::mov},
           {"mkv", Container::mkv},
           {"webm", Container::webm}}};
}

// A background that is the film itself, out of focus.
inline constexpr const char* kBlur = "blur";

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string background;  // a picture's path, "#rrggbb", or kBlur
  model::PictureModelOptions network;
  std::optional<long long> crf;
  long long encoder_threads = 2, decoder_threads = 1;
  double segment_seconds = 10;
  std::optional<long long> stream;
  std::string show_text = "auto";
  std::string clean_text = "none", scales_text = "1";
  matte::Cleaning cleaning;
  long long smooth = 1;         // frames
  std::optional<double> reuse;  // nothing: every frame is inferred
  std::string fast_model;
  double confidence = 0.95;
  std::vector<double> scales = {1};
  std::vector<std::string> region_texts;
  std::vector<film::Region> regions;
  std::string masks;
  long long sample = 0;              // pictures of a sheet, and nothing else
  std::string tune;                  // a file for the settings that are fastest
  std::optional<double> start, end;  // seconds behind the film's first picture
  std::optional<Show> show;          // nothing: mask where there is a model, else the film
  Codec codec = Codec::automatic;
  Container container = Container::automatic;
  FolderOptions files;
  Quality quality = Quality::high;
  Profile profile = Profile::fast;
  Stereo stereo = Stereo::none;
  Eyes eyes = Eyes::average;
  Share share;
  bool look_closer = false;  // --region auto
  bool benchmark = false;

  const std::string& input() const { return inputs.front(); }
  // Empty where it is no picture.
  std::string background_file() const;
  Show shown() const { return show.value_or(network.model.empty() && masks.empty() ? Show::film : Show::mask); }
};

void describe(Settings& settings, Options& options);
// Failure(usage) for what does not go together, of one film. Regions become numbers.
void check(Options& options);
// Of several: what is not for them.
void check_collection(const Options& options);

}  // namespace millrace::video
