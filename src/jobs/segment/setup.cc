#include "src/jobs/segment/setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/trusted_file.h"
#include "src/io/output/output.h"

namespace millrace::segment {
namespace {

constexpr std::int64_t kUsualSize = 1024;

model::PictureModelOptions options_of(const Options& options, std::size_t k) {
  model::PictureModelOptions out = options.network;
  if (!options.models.empty()) out.model = options.models[k];
  if (!options.cards.empty()) out.card = options.cards.size() == 1 ? options.cards[0] : options.cards[k];
  return out;
}

// Returns the value that all cards share, or `otherwise` if none has it. Throws a Failure if they differ.
template <typename T>
T agreed(const std::vector<model::PictureModel>& models, std::optional<T> model::ModelCard::*key, const char* name,
         T otherwise) {
  for (const model::PictureModel& each : models)
    if (each.card.*key != models.front().card.*key)
      throw Failure(ErrorCode::unsupported,
                    fmt::format("its card has another \"{}\" than the card of the first model", name), each.file.path,
                    fmt::format("use --{} to set it for all models", name));
  return (models.front().card.*key).value_or(otherwise);
}

}  // namespace

std::uint64_t Setup::input_elements() const {
  std::uint64_t out = 0;
  for (const model::InputForm& form : forms) out += form.order.size() * static_cast<std::uint64_t>(height * width);
  return out;
}

std::size_t Setup::channels() const {
  std::size_t out = 0;
  for (const model::Head& head : heads) out += head.is_map() ? head.classes.size() : 0;
  return out;
}

bool Setup::has(model::ModelTask task) const {
  return std::any_of(heads.begin(), heads.end(), [task](const model::Head& head) { return head.task == task; });
}

std::string Setup::model_name(std::size_t k) const {
  const auto name_of = [this](std::size_t j) { return replace_invalid_utf8(file_name(models[j].file.path)); };
  for (std::size_t j = 0; j < models.size(); ++j)
    if (j != k && name_of(j) == name_of(k)) return fmt::format("{} ({})", name_of(k), k + 1);
  return name_of(k);
}

model::Ensemble::Options ensemble_options(const Options& options, const RunContext& context) {
  const auto asked = static_cast<int>(options.network.requests);
  return {.threads = context.executor.threads(),
          .requests = asked > 0 ? asked : context.executor.threads(),
          .flips = options.flips,
          .mean = options.flip_mean.value_or(model::FlipMean::probability),
          .cache = context.sandbox == SandboxMode::all ? "" : cache_path("models"),
          .cancel = &context.cancel};
}

std::string precision_policy(const Options& options) {
  return options.min_dice ? fmt::format("auto: Dice of at least {}", *options.min_dice) : "";
}

void refuse_region_of_square(const Setup& setup) {
  if (setup.preprocess == model::Preprocess::none) return;
  throw Failure(ErrorCode::usage, "windows are cut from the square, not from the photograph: a region cannot be used",
                "--roi", "leave it out, or use --preprocess none");
}

Setup set_up(const Options& options, const std::function<bool()>& cancelled) {
  if (options.cards.size() > 1 && options.cards.size() != options.models.size())
    throw Failure(ErrorCode::usage,
                  fmt::format("{} cards were named for {} models", options.cards.size(), options.models.size()),
                  "--card", "name one for all models, or one for each in the same order");
  if (options.flip_mean && options.flips == model::Flips::none)
    throw Failure(ErrorCode::usage, "there are no flipped windows to average", "--tta-mean",
                  "use it with --tta h, w or hw");
  Setup out;
  const std::size_t count = std::max<std::size_t>(options.models.size(), 1);
  for (std::size_t k = 0; k < count; ++k)
    out.models.push_back(model::open_picture_model(options_of(options, k), cancelled));
  out.preprocess = options.preprocess
                       ? *options.preprocess
                       : agreed(out.models, &model::ModelCard::preprocess, "preprocess", model::Preprocess::none);
  out.height = out.models.front().height;
  out.width = out.models.front().width;
  bool gray = false, color = false;
  for (const model::PictureModel& each : out.models) {
    (each.input == model::ChannelOrder::gray ? gray : color) = true;
    if (each.input != model::ChannelOrder::enhanced) continue;
    out.pixel = 6;
    if (out.preprocess == model::Preprocess::none)
      throw Failure(ErrorCode::usage, "its input is a photograph and a copy with enhanced contrast", each.file.path,
                    "use --preprocess fundus, or --preprocess square if there is no round field of view");
  }
  if (gray && color)
    throw Failure(ErrorCode::unsupported, "one model takes gray pictures, and another takes color", "--model",
                  "run each model by itself");
  if (gray) out.pixel = 1;
  if (out.preprocess != model::Preprocess::none) {
    out.size = options.size ? *options.size : agreed(out.models, &model::ModelCard::size, "size", std::int64_t{0});
    if (!options.roi.empty()) refuse_region_of_square(out);
  } else if (options.size) {
    throw Failure(ErrorCode::usage, "no square is made of a picture", "--size",
                  "use it with --preprocess fundus or square");
  }
  if (!options.roi.empty() && ::access(options.roi.c_str(), F_OK) != 0) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' does not exist", escape_unprintable(options.roi)), "--roi",
                  "name a mask, or a folder of masks");
  }
  return out;
}

void complete_setup(const Options& options, Setup& setup, const model::Ensemble& ensemble) {
  setup.heads = ensemble.heads();
  setup.is_activated = ensemble.is_activated();
  if (options.network.mixed) setup.runtime_and_cpu = model::runtime_and_cpu_of(ensemble.session(0));
  setup.forms = ensemble.forms();
  const bool squared = setup.preprocess != model::Preprocess::none;
  if (squared && setup.size == 0) setup.size = setup.has_numbers() ? setup.width : kUsualSize;
  const auto refuse = [](const std::string& what, const std::string& option, const std::string& remedy) {
    throw Failure(ErrorCode::usage, what, option, remedy);
  };
  const bool only_masks = std::all_of(setup.heads.begin(), setup.heads.end(), [](const model::Head& head) {
    return head.task == model::ModelTask::segmentation;
  });
  if (options.skip_empty && !only_masks)
    refuse("skipped windows may hold the point, class or number that the network looks for", "--skip-empty",
           "use it only with networks that give masks");
  if (!setup.has_numbers()) return;
  if (!squared)
    refuse("the network gives a class or number for a picture, which must become a single window", "--preprocess",
           "use --preprocess fundus (the field of view) or --preprocess square (all of the picture)");
  if (setup.height != setup.width || setup.size != setup.width)
    refuse(
        fmt::format("the network gives a class or number for one window of {} x {}, but the side of the square is {}",
                    setup.height, setup.width, setup.size),
        "--size", "leave it out, or set it to the side of the window, which must be square");
}

Attributes make_provenance(const Options& options, const Setup& setup, const model::Ensemble& ensemble) {
  Attributes out = {{kJsonMark, "segment run"}};
  for (auto& each : model::make_provenance(setup.models, ensemble)) out.push_back(std::move(each));
  for (const auto& each : Attributes{{"overlap", fmt::format("{}", options.overlap)},
                                     {"importance", choice_name(options.importance)},
                                     {"pad", choice_name(options.padding)},
                                     {"write", options.write_text},
                                     {"format", choice_name(options.format)},
                                     {"skip-empty", options.skip_empty ? "true" : "false"}})
    out.push_back(each);
  if (setup.preprocess != model::Preprocess::none) {
    out.emplace_back("preprocess", choice_name(setup.preprocess));
    out.emplace_back("size", std::to_string(setup.size));
  }
  if (options.min_dice) out.emplace_back("precision policy", precision_policy(options));
  if (options.flips != model::Flips::none) {
    out.emplace_back("tta", choice_name(options.flips));
    out.emplace_back("tta-mean", choice_name(options.flip_mean.value_or(model::FlipMean::probability)));
  }
  return out;
}

}  // namespace millrace::segment
