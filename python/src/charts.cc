#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "millrace/error.h"
#include "millrace/render.h"

namespace millrace::python {
namespace {

// True for contiguous host arrays that share memory: drawing would overwrite the series.
bool overlap(const ArrayView& a, const ArrayView& b) {
  if (a.memory == MemoryKind::device || b.memory == MemoryKind::device || !a.contiguous() || !b.contiguous())
    return false;
  const auto *const first = static_cast<const char*>(a.data), *const second = static_cast<const char*>(b.data);
  return std::less<>()(first, second + bytes_of(b)) && std::less<>()(second, first + bytes_of(a));
}

class Drawer {
 public:
  explicit Drawer(const ChartOptions& options) : drawer_([options] { return new ChartDrawer(options); }) {}

  ChartDrawer& get() { return drawer_.get(); }
  // Waits for a draw of another thread, which may need Python's lock to end.
  DeviceUse device_use() {
    const ChartDrawer& drawer = drawer_.get();
    const RunningCall call;
    nb::gil_scoped_release release;
    return drawer.device_use();
  }

  void draw(const nb::object& series, const nb::object& images) {
    const HeldArray from = hold_array(series, "series"), to = hold_writable_array(images, "out");
    const ChartDrawer& drawer = drawer_.get();
    if (overlap(from.view, to.view))
      throw Failure(ErrorCode::usage, "it shares memory with the series", "out",
                    "pass an array with memory of its own");
    run_interruptible(bytes_of(from.view) + bytes_of(to.view),
                      [&](const CancelToken& cancel) { drawer.draw(from.view, to.view, &cancel); });
  }

 private:
  PerProcess<ChartDrawer> drawer_;
};

}  // namespace

void bind_charts(nb::module_& m) {
  nb::class_<ChartOptions>(m, "ChartOptions")
      .def(nb::init<>())
      .def_rw("style", &ChartOptions::style)
      .def_rw("rows", &ChartOptions::rows)
      .def_rw("width", &ChartOptions::width)
      .def_rw("height", &ChartOptions::height)
      .def_rw("line_width", &ChartOptions::line_width)
      .def_rw("scale", &ChartOptions::scale)
      .def_rw("ink", &ChartOptions::ink)
      .def_rw("paper", &ChartOptions::paper)
      .def_rw("rising", &ChartOptions::rising)
      .def_rw("falling", &ChartOptions::falling)
      .def_rw("channels", &ChartOptions::channels)
      .def_rw("dtype", &ChartOptions::dtype)
      .def_rw("volume", &ChartOptions::volume)
      .def_rw("average", &ChartOptions::average)
      .def_rw("threads", &ChartOptions::threads)
      .def_rw("device", &ChartOptions::device)
      .def_rw("verify_device", &ChartOptions::verify_device)
      .def_rw("device_memory", &ChartOptions::device_memory);
  nb::class_<Drawer>(m, "Drawer")
      .def(nb::init<const ChartOptions&>(), nb::arg("options"))
      .def_prop_ro("rows", [](Drawer& d) { return d.get().rows(); })
      .def_prop_ro("columns", [](Drawer& d) { return d.get().columns(); })
      .def_prop_ro("history", [](Drawer& d) { return d.get().history(); })
      .def_prop_ro("image_shape", [](Drawer& d) { return d.get().image_shape(); })
      .def_prop_ro("image_type", [](Drawer& d) { return millrace::name_of(d.get().image_type()); })
      .def_prop_ro("device_use",
                   [](Drawer& d) {
                     const DeviceUse use = d.device_use();
                     return dict_of(use, "drawn", use.drawn);
                   })
      .def("draw", &Drawer::draw, nb::arg("series"), nb::arg("out"));
}

}  // namespace millrace::python
