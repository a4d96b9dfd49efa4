// Input: a kind of charts, and series of a batch in the host's memory or the device's.
// Output: their images in the device's memory, and which of them are the CPU's to draw.
// Never: compares what it drew. Used from this folder alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/device/queue.h"
#include "src/kernels/chart/chart_scratch.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {

// Of charts [begin, end), those that a check looks at among the ones that the device drew itself.
std::vector<std::uint64_t> compared_charts(std::uint64_t begin, std::uint64_t end,
                                           const std::vector<std::uint64_t>& given_up, Verify verify);

// Holds what it needs on the device from one batch to the next. One thread at a time.
class BatchDrawer {
 public:
  // All outlive it.
  BatchDrawer(const Spec& spec, const Format& format, Accelerator& accelerator)
      : spec_(spec), format_(format), accelerator_(accelerator) {}

  // How many charts a batch has at most, with so many bytes more a chart of the device's memory.
  std::uint64_t most_charts(std::uint64_t bytes_each) const;
  // Series [begin, end). `all_series` are on the device where it is not empty, and so are `all_images`; without them
  // the images are in images(), the first one of the batch first. Returns which charts kernels give up, by number.
  // OutOfMemory, DeviceLost; Failure(internal) where blocks are missing.
  std::vector<std::uint64_t> draw(const SeriesArray& series, std::uint64_t begin, std::uint64_t end,
                                  const DeviceBuffer<std::uint8_t>& all_series,
                                  const DeviceBuffer<std::uint8_t>& all_images, bool aligned);
  const DeviceBuffer<std::uint8_t>& images() const { return scratch_->images.buffer; }

  // Made where there is none.
  Queue& queue();
  // The end of a queue waits for what was begun.
  void end_queue() { queue_.reset(); }

 private:
  void launch(std::uint64_t charts, const DeviceBuffer<double>& wide, const DeviceBuffer<float>& narrow,
              std::uint64_t series_first, const DeviceBuffer<std::uint8_t>& out, std::uint64_t image_first);

  const Spec& spec_;
  const Format& format_;
  Accelerator& accelerator_;
  std::optional<Queue> queue_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace millrace::chart
