// Input: a kind of charts, and series of a batch in host or device memory.
// Output: their images in device memory, and the charts that the CPU must draw.
// Never: checks its images. Used only in this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/device/queue.h"
#include "src/kernels/chart/chart_scratch.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {

// Returns the charts of [begin, end) that a check compares, among those that the device drew itself.
std::vector<std::uint64_t> select_compared_charts(std::uint64_t begin, std::uint64_t end,
                                                  const std::vector<std::uint64_t>& given_up, VerifyMode verify);

// Reuses its device memory from one batch to the next. Used by one thread at a time.
class BatchDrawer {
 public:
  // The arguments must outlive the object.
  BatchDrawer(const ChartSpec& spec, const Format& format, Accelerator& accelerator)
      : spec_(spec), format_(format), accelerator_(accelerator) {}

  // Returns the largest batch in charts, if each chart needs `bytes_each` more bytes of device memory.
  std::uint64_t max_charts(std::uint64_t bytes_each) const;
  // Draws series [begin, end). `all_series` and `all_images` are on the device if they are not empty. Without
  // `all_images` the images are in images(), from the first one of the batch on. Returns the numbers of the charts that
  // the kernels gave up. Throws OutOfMemory, DeviceLost, and Failure(internal) if blocks were left out.
  std::vector<std::uint64_t> draw(const SeriesArray& series, std::uint64_t begin, std::uint64_t end,
                                  const DeviceBuffer<std::uint8_t>& all_series,
                                  const DeviceBuffer<std::uint8_t>& all_images, bool aligned);
  const DeviceBuffer<std::uint8_t>& images() const { return scratch_->images.buffer; }

  // Returns the queue; creates it at the first call.
  Queue& queue();
  // Destroys the queue, which waits for pending operations.
  void end_queue() { queue_.reset(); }

 private:
  void launch(std::uint64_t charts, const DeviceBuffer<double>& wide, const DeviceBuffer<float>& narrow,
              std::uint64_t series_first, const DeviceBuffer<std::uint8_t>& out, std::uint64_t image_first);

  const ChartSpec& spec_;
  const Format& format_;
  Accelerator& accelerator_;
  std::optional<Queue> queue_;
  std::unique_ptr<ChartScratch> scratch_;
};

}  // namespace millrace::chart
