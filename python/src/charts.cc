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

// Bytes of images between two looks at signals: some hundredths of a second.
constexpr std::size_t kBytesAtOnce = std::size_t{64} << 20;
// A device takes batches of 2,048.
constexpr std::size_t kChartsAtOnce = 8192;

ArrayView part_of(ArrayView view, std::size_t begin, std::size_t end) {
  ArrayView out = std::move(view);
  out.shape.front() = 1;
  const auto bytes = static_cast<std::size_t>(out.elements()) * out.type.bytes();
  out.data = static_cast<char*>(out.data) + begin * bytes;
  out.shape.front() = static_cast<std::int64_t>(end - begin);
  return out;
}

// Host arrays without gaps that share memory: what is drawn of would be drawn over.
bool overlap(const ArrayView& a, const ArrayView& b) {
  if (a.memory == MemoryKind::device || b.memory == MemoryKind::device || !a.contiguous() || !b.contiguous())
    return false;
  const auto bytes = [](const ArrayView& view) {
    return static_cast<std::size_t>(view.elements()) * view.type.bytes();
  };
  const auto *const first = static_cast<const char*>(a.data), *const second = static_cast<const char*>(b.data);
  return std::less<>()(first, second + bytes(b)) && std::less<>()(second, first + bytes(a));
}

class Drawer {
 public:
  explicit Drawer(const ChartOptions& options) : drawer_([options] { return new ChartDrawer(options); }) {}

  ChartDrawer& get() { return drawer_.get(); }

  void draw(const nb::object& series, const nb::object& images) {
    const Held from = held(series, "series"), to = held_for_writing(images, "out");
    const ChartDrawer& drawer = drawer_.get();
    if (overlap(from.view, to.view))
      throw Failure(ErrorCode::usage, "it shares memory with the series", "out", "give another array");
    // What is not as it should be is said of all of it, before anything is drawn.
    const bool parted = !from.view.shape.empty() && !to.view.shape.empty() &&
                        from.view.shape.front() == to.view.shape.front() && from.view.shape.front() > 0 &&
                        from.view.contiguous() && to.view.contiguous();
    if (!parted) {
      const UnderWay call;
      nb::gil_scoped_release release;
      drawer.draw(from.view, to.view);
      return;
    }
    const auto count = static_cast<std::size_t>(from.view.shape.front());
    const std::size_t most =
        std::max<std::size_t>(kChartsAtOnce, kBytesAtOnce / std::max<std::size_t>(drawer.image_bytes(), 1));
    in_parts(count, most, [&](std::size_t begin, std::size_t end) {
      drawer.draw(part_of(from.view, begin, end), part_of(to.view, begin, end));
    });
  }

 private:
  OwnOfProcess<ChartDrawer> drawer_;
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
                     const DeviceUse use = d.get().device_use();
                     nb::dict out;
                     out["device"] = use.device;
                     out["drawn"] = use.drawn;
                     out["compared"] = use.compared;
                     out["by_cpu"] = use.by_cpu;
                     out["why"] = use.why;
                     return out;
                   })
      .def("draw", &Drawer::draw, nb::arg("series"), nb::arg("out"));
}

}  // namespace millrace::python
