#include "src/jobs/segment/precision.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/jobs/segment/cutter.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::segment {
namespace {

constexpr std::size_t kWindows = 16;

// Returns the precision that an earlier run in the folder has chosen by the same policy.
std::optional<model::Precision> read_previous_decision(const Options& options) {
  const auto then = read_json_attributes(join_path(options.output, RunFolder::kRunFile));
  if (!then) return std::nullopt;
  const auto value_of = [&](const std::string& key) {
    const auto found = std::find_if(then->begin(), then->end(), [&](const auto& each) { return each.first == key; });
    return found == then->end() ? std::string() : found->second;
  };
  if (value_of("precision policy") != precision_policy(options)) return std::nullopt;
  if (value_of("precision") == "f32") return model::Precision::f32;
  if (value_of("precision") == "bf16") return model::Precision::bf16;
  return std::nullopt;
}

using Sample = std::vector<Buffer<float>>;

// Samples at most `most` windows of an image, evenly. An image that cannot be used gives none; its error is reported
// later.
void take_windows(const Options& options, const Setup& setup, const SegmentInput& input, std::size_t most,
                  RunContext& context, Sample& out) {
  std::optional<Cutter> cutter;
  try {
    cutter.emplace(options, setup, input.file.path, input.name, context);
    if (cutter->memory_cost() > context.budget.largest_grant()) return;
    const Reservation reservation =
        context.budget.reserve(cutter->memory_cost(), "a picture whose windows are compared");
    // Samples only the middle row of windows of a slide: for others the whole slide would have to be decoded.
    constexpr std::uint64_t kMaxWindows = 1000;
    const bool all = cutter->windows() <= kMaxWindows;
    const std::size_t columns = cutter->x().starts().size(), first_row = all ? 0 : cutter->y().starts().size() / 2,
                      end_row = all ? cutter->y().starts().size() : first_row + 1,
                      there = (end_row - first_row) * columns;
    most = std::min(most, there);
    cutter->begin(first_row, "");
    Buffer<float> passed;
    passed.resize(setup.input_elements());
    std::size_t row = 0, column = 0, taken = 0;
    // Takes the middle window of each of `most` equal parts; if it is left out, the next one.
    while (taken < most && cutter->next(passed.data(), row, column) && row < end_row) {
      if ((row - first_row) * columns + column < (2 * taken + 1) * there / (2 * most)) continue;
      std::copy_n(passed.data(), passed.size(), out.emplace_back(passed.size()).data());
      ++taken;
    }
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
  }
}

// Returns the labels of each window and head.
std::vector<std::vector<std::vector<std::uint8_t>>> labels_of(model::Ensemble& ensemble, const Sample& sample,
                                                              std::size_t pixels, const RunContext& context) {
  std::vector<std::vector<std::vector<std::uint8_t>>> out;
  const std::vector<float> ones(pixels, 1.0F);
  for (const Buffer<float>& window : sample) {
    context.throw_if_cancelled();
    model::Prediction prediction;
    model::Session::wait_for(
        [&](model::Session::Completion done) { ensemble.submit(window.data(), prediction, std::move(done)); });
    const auto maps = model::maps_of(ensemble.heads(), std::span(prediction.maps.data(), prediction.maps.size()));
    auto& labels = out.emplace_back();
    for (std::size_t h = 0; h < maps.size(); ++h) {
      const model::Head& head = ensemble.heads()[h];
      if (head.task != model::ModelTask::segmentation) continue;
      if (!ensemble.is_activated()) head.activate(maps[h]);
      window::label(maps[h], ones, head.least(), labels.emplace_back(pixels));
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

Json json_of(const PrecisionDecision& precision_decision) {
  Json out = {{"windows", precision_decision.windows}, {"why", precision_decision.why}};
  if (precision_decision.dice) out["dice"] = *precision_decision.dice;
  return out;
}

PrecisionDecision decide_precision(const Options& options, Setup& setup, const SegmentInputs& inputs,
                                   RunContext& context) {
  PrecisionDecision out;
  if (const auto decided = read_previous_decision(options)) {
    out.precision = *decided;
    out.why = "the same as in the previous run in this folder";
    return out;
  }
  model::PictureModelOptions network_options = options.network;
  Reservation of_sample;
  Sample sample;
  std::vector<DiceSums> dice;
  std::vector<std::vector<std::vector<std::uint8_t>>> exact;
  const auto pixels = static_cast<std::size_t>(setup.height * setup.width);
  for (const auto precision : {model::Precision::f32, model::Precision::bf16}) {
    network_options.precision = precision;
    model::Ensemble ensemble(setup.models, network_options, ensemble_options(options, context));
    const model::Session::Memory measured = ensemble.measure();
    const Reservation reservation = context.budget.reserve(measured.model + measured.request, "the network");
    if (precision == model::Precision::f32) {
      complete_setup(options, setup, ensemble);
      for (const model::Head& head : setup.heads) {
        if (head.task != model::ModelTask::segmentation) {
          out.why = "the network gives points, classes or numbers, and only masks can be compared";
          return out;
        }
        dice.emplace_back(head.labels().size());
      }
      of_sample =
          context.budget.reserve(Bytes{kWindows * sizeof(float) * setup.input_elements()}, "windows that are compared");
      const std::size_t count = std::min(inputs.pictures.size(), kWindows);
      for (std::size_t k = 0; k < count; ++k)
        take_windows(options, setup, inputs.pictures[k * inputs.pictures.size() / count],
                     (k + 1) * kWindows / count - k * kWindows / count, context, sample);
      if (sample.empty()) {
        out.why = "no window could be compared";
        return out;
      }
      exact = labels_of(ensemble, sample, pixels, context);
      continue;
    }
    if (ensemble.session(0).precision() != "bf16") {
      out.why = "this CPU does not support bf16";
      return out;
    }
    const auto rounded = labels_of(ensemble, sample, pixels, context);
    for (std::size_t k = 0; k < sample.size(); ++k)
      for (std::size_t h = 0; h < dice.size(); ++h) dice[h].add(exact[k][h], rounded[k][h]);
  }
  out.windows = sample.size();
  out.dice = 1;
  for (const DiceSums& each : dice) out.dice = std::min(*out.dice, each.least());
  const bool agrees = *out.dice >= *options.min_dice;
  if (agrees) out.precision = model::Precision::bf16;
  out.why =
      fmt::format("masks in bf16 agree with those in f32 to a Dice of {:.4f} on {} windows of this run; {} is required",
                  *out.dice, out.windows, *options.min_dice);
  return out;
}

}  // namespace millrace::segment
