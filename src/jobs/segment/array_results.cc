#include "src/jobs/segment/array_results.h"

#include <algorithm>

#include "src/base/text.h"

namespace millrace::segment {
namespace {

void take_head(const HeadResult& found, const PictureResult& result, std::size_t h, const Setup& setup,
               SegmentOutput& out) {
  const model::Head& head = setup.heads[h];
  const double all = static_cast<double>(result.width) * static_cast<double>(result.height);
  const auto name_of = [&head](std::size_t c) {
    return replace_invalid_utf8(head.classes[c % head.classes.size()].name);
  };
  for (std::size_t c = 0; c < found.classes.size(); ++c) {
    const ClassResult& each = found.classes[c];
    out.classes.push_back({name_of(c), each.pixels, each.at_edge, static_cast<double>(each.pixels) / all, each.mean});
  }
  for (std::size_t c = 0; c < found.peaks.size(); ++c) {
    SegmentPoint& point = out.points.emplace_back();
    point.name = name_of(c);
    if (const auto& peak = found.peaks[c]) {
      point.x = peak->x;
      point.y = peak->y;
      point.value = peak->value;
    }
  }
  const bool by_model = head.task == model::ModelTask::regression && setup.models.size() > 1;
  for (std::size_t k = 0; k < found.numbers.size(); ++k)
    out.values.push_back({name_of(k), by_model ? setup.model_name(k / head.classes.size()) : "", found.numbers[k]});
  if (setup.models.size() > 1 && head.task == model::ModelTask::segmentation) out.disagreement = result.disagreement(h);
}

}  // namespace

ArrayResults::ArrayResults(const Setup& setup, int width, int height, bool probabilities, SegmentedImage& out)
    : setup_(setup),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      probabilities_(probabilities),
      out_(out),
      masks_(setup, width, height) {
  out_.width = width;
  out_.height = height;
  for (const model::Head& head : setup.heads) {
    SegmentOutput& output = out_.outputs.emplace_back();
    output.name = head.name;
    output.task = choice_name(head.task);
    if (!head.is_map()) continue;
    output.maps = head.classes.size();
    if (probabilities) output.probability.resize(output.maps * height_ * width_);
    if (head.task != model::ModelTask::segmentation) continue;
    output.mask.resize(height_ * width_);
    for (const model::Head::Label& label : head.labels())
      output.labels.push_back({replace_invalid_utf8(label.name), label.color, label.drawn});
  }
}

void ArrayResults::append(std::span<const float> row, std::span<const float> weights, std::span<const std::uint8_t>) {
  masks_.take(row, weights);
  const auto maps = model::maps_of(setup_.heads, row);
  for (std::size_t h = 0; h < maps.size(); ++h) {
    SegmentOutput& output = out_.outputs[h];
    const std::span<const std::uint8_t> mask = masks_.mask_row(h);
    std::copy(mask.begin(), mask.end(), output.mask.data() + rows_ * mask.size());
    for (std::size_t c = 0; probabilities_ && c < output.maps; ++c)
      std::copy_n(maps[h].data() + c * width_, width_, output.probability.data() + (c * height_ + rows_) * width_);
  }
  ++rows_;
}

Outcome<PictureResult> ArrayResults::finish(PictureResult result) {
  if (const auto finished = masks_.finish(result); !finished.ok()) return finished.error();
  out_.windows = result.windows;
  out_.left_out = result.left_out;
  for (std::size_t h = 0; h < result.heads.size(); ++h) take_head(result.heads[h], result, h, setup_, out_.outputs[h]);
  if (result.field) {
    out_.doubts = result.field->doubts;
    out_.field_of_view = field_of_view_to_json(*result.field).dump();
  }
  return result;
}

}  // namespace millrace::segment
