#include "millrace/segment.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "texts.h"

namespace millrace::python {
namespace {

nb::dict to_dict(SegmentOutput&& output, std::int64_t height, std::int64_t width, bool probabilities) {
  nb::dict out;
  out["name"] = text_of(output.name);
  out["task"] = output.task;
  const bool has_maps = probabilities && output.maps > 0;
  out["probability"] =
      has_maps ? to_numpy(std::move(output.probability), {static_cast<std::int64_t>(output.maps), height, width})
               : nb::none();
  out["mask"] = output.mask.empty() ? nb::none() : to_numpy(std::move(output.mask), {height, width});
  nb::list labels, classes, points, values;
  for (const SegmentLabel& label : output.labels)
    labels.append(nb::make_tuple(text_of(label.name), nb::make_tuple(label.color[0], label.color[1], label.color[2]),
                                 label.drawn));
  for (const SegmentClass& each : output.classes)
    classes.append(
        nb::make_tuple(text_of(each.name), each.pixels, each.edge_pixels, each.share, each.mean_probability));
  for (const SegmentPoint& each : output.points)
    points.append(nb::make_tuple(text_of(each.name), each.x, each.y, each.value));
  for (const SegmentValue& each : output.values)
    values.append(nb::make_tuple(text_of(each.name), text_of(each.model), each.value));
  out["labels"] = labels;
  out["classes"] = classes;
  out["points"] = points;
  out["values"] = values;
  out["disagreement"] = output.disagreement;
  return out;
}

nb::dict to_dict(SegmentedImage&& image, bool probabilities) {
  nb::list outputs, doubts;
  for (SegmentOutput& output : image.outputs)
    outputs.append(to_dict(std::move(output), image.height, image.width, probabilities));
  for (const std::string& doubt : image.doubts) doubts.append(text_of(doubt));
  nb::dict out;
  out["height"] = image.height;
  out["width"] = image.width;
  out["windows"] = image.windows;
  out["left_out"] = image.left_out;
  out["outputs"] = outputs;
  out["doubts"] = doubts;
  out["field_of_view"] = text_of(image.field_of_view);
  return out;
}

// Segments images; paths and options are passed as bytes, as in jobs.cc.
class PySegmenter {
 public:
  PySegmenter(const nb::list& models, const nb::list& options)
      : segmenter_([models = texts_of(models), options = options_of(options)] {
          std::unique_ptr<Segmenter> out;
          run_interruptible(
              [&](const CancelToken& cancel) { out = std::make_unique<Segmenter>(models, options, &cancel); });
          return out.release();
        }) {}

  Segmenter& get() { return segmenter_.get(); }

  nb::list segment(const nb::list& images, const nb::list& regions, bool probabilities) {
    const Segmenter& segmenter = segmenter_.get();
    std::vector<HeldArray> arrays;
    const std::vector<ArrayView> views = views_of(images, "image", arrays), where = views_of(regions, "roi", arrays);
    std::vector<SegmentedImage> made;
    run_interruptible([&](const CancelToken& cancel) {
      made = segmenter.segment(views, {where, probabilities, &cancel});
    });
    nb::list out;
    for (SegmentedImage& image : made) out.append(to_dict(std::move(image), probabilities));
    return out;
  }

 private:
  PerProcess<Segmenter> segmenter_;
};

}  // namespace

void bind_segment(nb::module_& m) {
  m.def("segmenter_options", [] { return dicts_of(Segmenter::describe_options()); });
  nb::class_<PySegmenter>(m, "Segmenter")
      .def(nb::init<const nb::list&, const nb::list&>(), nb::arg("models"), nb::arg("options"))
      .def_prop_ro("runtime", [](PySegmenter& s) { return s.get().runtime(); })
      .def_prop_ro("precision", [](PySegmenter& s) { return s.get().precision(); })
      .def_prop_ro("window",
                   [](PySegmenter& s) { return nb::make_tuple(s.get().window_height(), s.get().window_width()); })
      .def("segment", &PySegmenter::segment, nb::arg("images"), nb::arg("regions"), nb::arg("probabilities"));
}

}  // namespace millrace::python
