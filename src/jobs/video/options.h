// Input: the user's options of `millrace video`.
// Output: checked options; values that were not given are left to the model's card, or to the video.
// Never: accesses a file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "src/base/choice.h"
#include "src/base/settings.h"
#include "src/io/video/colors.h"
#include "src/jobs/folder_options.h"
#include "src/kernels/masks/postprocess.h"
#include "src/model/picture_model.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::video {

// Content of the new video.
enum class ShownContent : std::uint8_t {
  film,          // the input video
  mask,          // white where the model finds its classes
  overlay,       // the video, with these classes tinted
  side_by_side,  // the video, and the mask to its right
  files,         // only masks, one file each
  alpha,         // the video, with everything else transparent
  background     // the video, with everything else replaced by an image, a color, or a blurred copy
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

// Time that an encoder may spend on a frame.
enum class Profile : std::uint8_t { fast, balanced, quality };
constexpr std::array<Choice<Profile>, 3> choices_of(Profile) {
  return {{{"fast", Profile::fast}, {"balanced", Profile::balanced}, {"quality", Profile::quality}}};
}

// Arrangement of two eyes in a frame.
enum class Stereo : std::uint8_t { none, side_by_side, over_under, left, right };
constexpr std::array<Choice<Stereo>, 5> choices_of(Stereo) {
  return {{{"none", Stereo::none},
           {"side-by-side", Stereo::side_by_side},
           {"over-under", Stereo::over_under},
           {"left", Stereo::left},
           {"right", Stereo::right}}};
}
// Rule for combining masks of two eyes that do not agree.
enum class StereoMerge : std::uint8_t { average, weighted, cross_check };
constexpr std::array<Choice<StereoMerge>, 3> choices_of(StereoMerge) {
  return {{{"average", StereoMerge::average},
           {"weighted", StereoMerge::weighted},
           {"cross-check", StereoMerge::cross_check}}};
}

// Container for the videos of a folder; for a single output its name decides.
enum class Container : std::uint8_t { automatic, mp4, mov, mkv, webm };
constexpr std::array<Choice<Container>, 5> choices_of(Container) {
  return {{{"auto", Container::automatic},
           {"mp4", Container::mp4},
           {"mov", Container::mov},
           {"mkv", Container::mkv},
           {"webm", Container::webm}}};
}

// Background that is the video itself, blurred.
inline constexpr const char* kBlur = "blur";

struct VideoOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string background;  // path of an image, "#rrggbb", or kBlur
  model::PictureModelOptions network;
  std::optional<long long> crf;
  long long encoder_threads = 2, decoder_threads = 1;
  double shard_seconds = 10;
  std::optional<long long> stream;
  std::string show_text = "auto";
  std::string postprocess_text = "none", scales_text = "1";
  masks::Postprocess postprocess;
  long long smooth = 1;         // frames
  std::optional<double> reuse;  // if empty, every frame is inferred
  std::string fast_model;
  double confidence = 0.95;
  std::vector<double> scales = {1};
  std::vector<std::string> region_texts;
  std::vector<video_file::FrameRegion> regions;
  std::string masks;
  long long sample = 0;              // frames on a contact sheet, which is then the only output
  std::string tune;                  // file for the fastest settings
  std::optional<double> start, end;  // seconds after the video's first frame
  std::optional<ShownContent> show;  // if empty: the mask if there is a model or masks, else the video
  Codec codec = Codec::automatic;
  Container container = Container::automatic;
  FolderOptions files;
  Quality quality = Quality::high;
  Profile profile = Profile::fast;
  Stereo stereo = Stereo::none;
  StereoMerge stereo_merge = StereoMerge::average;
  ShardSpec shard_spec;
  bool refine_region = false;  // --region auto
  bool benchmark = false;

  const std::string& input() const { return inputs.front(); }
  // Returns the background's path; empty if it is not an image.
  std::string background_file() const;
  ShownContent shown() const {
    return show.value_or(network.model.empty() && masks.empty() ? ShownContent::film : ShownContent::mask);
  }
};

void describe(Settings& settings, VideoOptions& options);
// Throws Failure(usage) if the options for one video do not fit together. Parses the regions.
void check(VideoOptions& options);
// Throws Failure(usage) if options cannot be used with several videos.
void check_collection(const VideoOptions& options);

}  // namespace millrace::video
