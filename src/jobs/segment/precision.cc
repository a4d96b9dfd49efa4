#include "src/jobs/segment/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "src/base/paths.h"
#include "src/io/file/own.h"
#include "src/jobs/segment/cutter.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::segment {
namespace {

constexpr std::size_t kWindows = 16;

// Of the runs before this one in the folder, which were asked the same.
std::optional<model::Precision> decided_before(const Options& options) {
  const auto then = attributes_in_json(path_in(options.output, RunFolder::kRunFile));
  if (!then) return std::nullopt;
  const auto value_of = [&](const std::string& key) {
    const auto found = std::find_if(then->begin(), then->end(), [&](const auto& each) { return each.first == key; });
    return found == then->end() ? std::string() : found->second;
  };
  if (value_of("precision-policy") != precision_policy(options)) return std::nullopt;
  if (value_of("precision") == "f32") return model::Precision::f32;
  if (value_of("precision") == "bf16") return model::Precision::bf16;
  return std::nullopt;
}

using Sample = std::vector<Buffer<float>>;

// Of one picture, evenly; none where it cannot be used.
void take_windows(const Options& options, const Setup& setup, const Input& input, std::size_t most, RunContext& context,
                  Sample& out) {
  try {
    Cutter cutter(options, setup, input.file.path, input.name, context);
    const Reservation paid = context.budget.reserve(cutter.needs(), "a picture of which windows are compared");
    // Of a slide the middle row of windows: all of it would have to be decoded for the others.
    constexpr std::uint64_t kMostWindows = 1000;
    const bool all = cutter.windows() <= kMostWindows;
    const std::size_t first_row = all ? 0 : cutter.y().starts().size() / 2,
                      end_row = all ? cutter.y().starts().size() : first_row + 1,
                      there = (end_row - first_row) * cutter.x().starts().size(),
                      step = std::max<std::size_t>(1, there / most);
    cutter.begin(first_row, std::filesystem::temp_directory_path());
    Buffer<float> window;
    window.resize(setup.input_elements());
    std::size_t row = 0, column = 0;
    const std::size_t before = out.size();
    while (out.size() - before < most && cutter.next(window.data(), row, column) && row < end_row) {
      // Those in the middle of as many parts.
      if (((row - first_row) * cutter.x().starts().size() + column) % step != step / 2) continue;
      out.push_back(std::move(window));
      window.resize(setup.input_elements());
    }
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
    // It will be an outcome, and told then.
  }
}

// Of each window and head its labels.
std::vector<std::vector<std::vector<std::uint8_t>>> labels_of(model::Ensemble& ensemble, const Sample& sample,
                                                              std::size_t pixels) {
  std::vector<std::vector<std::vector<std::uint8_t>>> out;
  const std::vector<float> ones(pixels, 1.0F);
  for (const Buffer<float>& window : sample) {
    model::Prediction prediction;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::optional<Error> failed;
    ensemble.submit(window.data(), prediction, [&](const Error* error) {
      const std::lock_guard lock(mutex);
      if (error != nullptr) failed = *error;
      done = true;
      ended.notify_one();
    });
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return done; });
    if (failed) throw Failure(*failed);
    std::span<float> left(prediction.maps.data(), prediction.maps.size());
    auto& labels = out.emplace_back();
    for (const model::Head& head : ensemble.heads()) {
      if (!head.is_map()) continue;
      const std::span<float> values = left.first(head.classes.size() * pixels);
      left = left.subspan(values.size());
      if (head.task != model::Task::segmentation) continue;
      if (!ensemble.is_activated()) {
        if (head.activation == model::Activation::sigmoid) window::sigmoid(values);
        if (head.activation == model::Activation::softmax) window::softmax(values, head.classes.size());
      }
      window::label(values, ones, head.has_none() ? std::optional(static_cast<float>(head.threshold)) : std::nullopt,
                    labels.emplace_back(pixels));
    }
  }
  return out;
}

}  // namespace

void DiceSums::add(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    ++one_[a[i]];
    ++other_[b[i]];
    if (a[i] == b[i]) ++both_[a[i]];
  }
}

double DiceSums::least() const {
  double out = 1;
  for (std::size_t k = 0; k < both_.size(); ++k)
    if (one_[k] + other_[k] > 0)
      out = std::min(out, 2 * static_cast<double>(both_[k]) / static_cast<double>(one_[k] + other_[k]));
  return out;
}

model::Ensemble::Options ensemble_options(const Options& options, RunContext& context) {
  const auto asked = static_cast<int>(options.network.requests);
  return {.threads = context.executor.threads(),
          .requests = asked > 0 ? asked : context.executor.threads(),
          .flips = options.flips,
          .mean = options.flip_mean,
          .cache = cache_path("models")};
}

Agreement agree(const Options& options, Setup& setup, const Inputs& inputs, RunContext& context) {
  Agreement out;
  if (const auto decided = decided_before(options)) {
    out.precision = *decided;
    out.why = "as the run before in this folder has it";
    return out;
  }
  model::PictureModelOptions said = options.network;
  Sample sample;
  std::vector<DiceSums> dice;
  std::vector<std::vector<std::vector<std::uint8_t>>> exact;
  const auto pixels = static_cast<std::size_t>(setup.height * setup.width);
  for (const auto precision : {model::Precision::f32, model::Precision::bf16}) {
    said.precision = precision;
    model::Ensemble ensemble(setup.models, said, ensemble_options(options, context));
    const model::Session::Memory takes = ensemble.measure();
    const Reservation paid = context.budget.reserve(takes.model + takes.request, "the network");
    if (precision == model::Precision::f32) {
      complete(options, setup, ensemble);
      for (const model::Head& head : setup.heads)
        if (head.task == model::Task::segmentation) dice.emplace_back(head.labels().size());
      if (dice.empty()) {
        out.why = "it makes no masks that could be compared";
        return out;
      }
      const std::size_t count = std::min(inputs.pictures.size(), kWindows);
      for (std::size_t k = 0; k < count; ++k)
        take_windows(options, setup, inputs.pictures[k * inputs.pictures.size() / count],
                     (kWindows + count - 1) / count, context, sample);
      if (sample.empty()) {
        out.why = "there is no window to compare masks of";
        return out;
      }
      exact = labels_of(ensemble, sample, pixels);
      continue;
    }
    if (ensemble.session(0).precision() != "bf16") {
      out.why = "this CPU has no bf16";
      return out;
    }
    const auto rounded = labels_of(ensemble, sample, pixels);
    for (std::size_t k = 0; k < sample.size(); ++k)
      for (std::size_t h = 0; h < dice.size(); ++h) dice[h].add(exact[k][h], rounded[k][h]);
  }
  out.windows = sample.size();
  out.dice = 1;
  for (const DiceSums& each : dice) out.dice = std::min(*out.dice, each.least());
  const bool agrees = *out.dice >= *options.least_dice;
  if (agrees) out.precision = model::Precision::bf16;
  out.why = fmt::format(
      "masks in bf16 agree with those in float32 to a Dice of {:.4f} on {} windows of this run; {} is "
      "asked for",
      *out.dice, out.windows, *options.least_dice);
  return out;
}

}  // namespace millrace::segment
