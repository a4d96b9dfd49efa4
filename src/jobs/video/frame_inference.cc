#include "src/jobs/video/frame_inference.h"

#include <algorithm>
#include <cstdlib>

#include "src/base/mutex.h"
#include "src/kernels/masks/masks.h"

namespace millrace::video {

void FrameInference::prepare(const std::uint8_t* picture, bool keep_seen, InferenceBuffers& buffers,
                             Views::Workspace& workspace) const {
  const std::size_t count = views_.count(), in = network_.model.input_elements(), seen = views_[0].seen_bytes();
  buffers.input.resize(count * in);
  buffers.output.resize(count * network_.output_elements());
  if (keep_seen) buffers.seen.resize(count * seen);
  for (std::size_t k = 0; k < count; ++k)
    views_[k].input(picture, buffers.input.data() + k * in, keep_seen ? buffers.seen.data() + k * seen : nullptr,
                    workspace.view);
}

void FrameInference::submit(InferenceBuffers& buffers, std::function<void(std::exception_ptr)> done) const {
  struct All {
    std::function<void(std::exception_ptr)> done;
    std::atomic<std::size_t> left;
    Mutex mutex;
    std::exception_ptr failed MILLRACE_GUARDED_BY(mutex);
  };
  const std::size_t count = views_.count();
  auto all = std::make_shared<All>();
  all->done = std::move(done);
  all->left = count;
  for (std::size_t k = 0; k < count; ++k) {
    network_.session.submit(buffers.input.data() + k * network_.model.input_elements(),
                            {buffers.output.data() + k * network_.output_elements()}, [all](const Error* error) {
                              if (error != nullptr) {
                                const MutexLock lock(all->mutex);
                                all->failed = std::make_exception_ptr(Failure(*error));
                              }
                              if (--all->left > 0) return;
                              std::exception_ptr failed;
                              {
                                const MutexLock lock(all->mutex);
                                failed = all->failed;
                              }
                              all->done(failed);
                            });
  }
}

double find_largest_difference(const Buffer<std::uint8_t>& a, const Buffer<std::uint8_t>& b, std::int32_t width,
                               std::int32_t height) {
  constexpr std::int32_t kTile = 16;
  constexpr std::size_t kPlanes = 3;
  const auto w = static_cast<std::size_t>(width), plane = w * static_cast<std::size_t>(height);
  const std::size_t views = a.size() / (kPlanes * plane);
  double largest = 0;
  for (std::size_t view = 0; view < views; ++view) {
    for (std::int32_t top = 0; top < height; top += kTile) {
      for (std::int32_t left = 0; left < width; left += kTile) {
        const std::int32_t bottom = std::min(top + kTile, height), right = std::min(left + kTile, width);
        std::uint64_t sum = 0;
        for (std::size_t p = 0; p < kPlanes; ++p) {
          const std::size_t first = (view * kPlanes + p) * plane;
          for (std::int32_t y = top; y < bottom; ++y) {
            const std::uint8_t* x = a.data() + first + static_cast<std::size_t>(y) * w + static_cast<std::size_t>(left);
            const std::uint8_t* z = b.data() + first + static_cast<std::size_t>(y) * w + static_cast<std::size_t>(left);
            std::uint32_t row = 0;
            for (std::int32_t k = 0; k < right - left; ++k) row += static_cast<std::uint32_t>(std::abs(x[k] - z[k]));
            sum += row;
          }
        }
        const auto pixels = static_cast<double>(kPlanes) * (bottom - top) * (right - left);
        largest = std::max(largest, static_cast<double>(sum) / (255 * pixels));
      }
    }
  }
  return largest;
}

double confidence_of(std::span<const std::uint16_t> mask) {
  std::uint64_t sum = 0;
  for (const std::uint32_t p : mask) sum += std::max<std::uint32_t>(p, masks::kOne - p);
  return mask.empty() ? 1 : static_cast<double>(sum) / static_cast<double>(mask.size()) / masks::kOne;
}

}  // namespace millrace::video
