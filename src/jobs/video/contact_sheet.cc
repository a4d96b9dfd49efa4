#include "src/jobs/video/contact_sheet.h"

#include <algorithm>
#include <cmath>
#include <future>

#include "src/io/image/png_write.h"
#include "src/jobs/video/masking.h"

namespace millrace::video {
namespace {

constexpr std::int32_t kTileWidth = 480, kGap = 8, kChecker = 12;

// Blends transparent pixels with a checkerboard.
void lay_on_ground(const video_file::FrameShape& shown, const std::uint8_t* picture, const video_file::FrameShape& tile,
                   std::uint8_t* planes) {
  if (shown.alpha == 0) return;
  const video_file::FrameLayout from = video_file::layout_of(shown), to = video_file::layout_of(tile);
  const std::uint32_t p = shown.color_planes();
  const double most = (1U << shown.depth) - 1;
  for (std::int32_t y = 0; y < tile.height; ++y) {
    for (std::int32_t x = 0; x < tile.width; ++x) {
      const auto sx = static_cast<std::size_t>((2 * x + 1) * std::int64_t{shown.width} / (2 * tile.width));
      const auto sy = static_cast<std::size_t>((2 * y + 1) * std::int64_t{shown.height} / (2 * tile.height));
      const std::uint8_t* row = picture + from.offset[p] + sy * from.stride[p];
      const double alpha = (shown.depth > 8 ? reinterpret_cast<const std::uint16_t*>(row)[sx] : row[sx]) / most;
      const double ground = (x / kChecker + y / kChecker) % 2 == 0 ? 200 : 240;
      for (std::size_t c = 0; c < 3; ++c) {
        std::uint8_t& value =
            planes[to.offset[c] + static_cast<std::size_t>(y) * to.stride[c] + static_cast<std::size_t>(x)];
        value = static_cast<std::uint8_t>(std::lround(ground + (value - ground) * alpha));
      }
    }
  }
}

void wait_for(const std::function<void(std::function<void(std::exception_ptr)>)>& begin) {
  std::promise<void> promise;
  begin(
      [&promise](std::exception_ptr error) { error ? promise.set_exception(std::move(error)) : promise.set_value(); });
  promise.get_future().get();
}

class Sheet {
 public:
  Sheet(const video_file::FrameShape& shown, std::uint64_t count)
      : shown_(shown),
        columns_(std::max(static_cast<std::int32_t>(std::ceil(
                              std::sqrt(static_cast<double>(count) * shown.height / std::max(shown.width, 1) * 1.6))),
                          1)),
        rows_((static_cast<std::int32_t>(count) + columns_ - 1) / columns_),
        width_(std::min(kTileWidth, shown.width)),
        height_(std::max(static_cast<std::int32_t>(std::int64_t{shown.height} * width_ / shown.width), 1)),
        view_(shown, {}, width_, height_),
        pixels_(static_cast<std::size_t>(width()) * static_cast<std::size_t>(height()) * 3, 24) {}

  int width() const { return columns_ * (width_ + kGap) + kGap; }
  int height() const { return rows_ * (height_ + kGap) + kGap; }
  const std::vector<std::uint8_t>& pixels() const { return pixels_; }

  void add(const std::uint8_t* picture) {
    const video_file::FrameLayout layout = video_file::layout_of(view_.shape());
    planes_.resize(layout.bytes);
    view_.planes(picture, planes_.data(), workspace_);
    lay_on_ground(shown_, picture, view_.shape(), planes_.data());
    const std::int32_t left = kGap + next_ % columns_ * (width_ + kGap),
                       top = kGap + next_ / columns_ * (height_ + kGap);
    for (std::int32_t y = 0; y < height_; ++y)
      for (std::int32_t x = 0; x < width_; ++x)
        for (std::size_t c = 0; c < 3; ++c)
          pixels_[(static_cast<std::size_t>(top + y) * static_cast<std::size_t>(width()) +
                   static_cast<std::size_t>(left + x)) *
                      3 +
                  c] =
              planes_[layout.offset[c] + static_cast<std::size_t>(y) * layout.stride[c] + static_cast<std::size_t>(x)];
    ++next_;
  }

 private:
  const video_file::FrameShape shown_;
  const std::int32_t columns_, rows_, width_, height_;
  const video_file::RgbConverter view_;
  video_file::RgbConverter::Workspace workspace_;
  Buffer<std::uint8_t> planes_;
  std::int32_t next_ = 0;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

ContactSheet sample(const VideoOptions& given, std::uint64_t count, const OutputTarget& output, RunContext& context) {
  VideoOptions options = given;
  options.smooth = 1;
  options.reuse.reset();
  Networks networks;
  Setup setup(options, networks, context);
  setup.composition.made = setup.composition.shown;
  Masking masking(setup, context);
  const Compositor compositor(setup.composition, context);
  Compositor::Workspace workspace;
  masks::PostprocessWorkspace postprocess;
  video_file::FrameShape shown = setup.composition.shown;
  if (setup.composition.show == ShownContent::files) shown.colors = video_file::filled_in(shown, setup.filled_in);
  Sheet sheet(shown, count);
  Buffer<std::uint8_t> picture(video_file::layout_of(setup.composition.shown).bytes);
  if (!setup.cut.end && !setup.film.duration)
    throw Failure(ErrorCode::usage, "the video does not state its duration", "--sample",
                  "set the end, for example --end 0:01:00");
  const std::int64_t begin = setup.cut.start.value_or(setup.film.begin());
  const std::int64_t end = setup.cut.end ? *setup.cut.end : setup.film.begin() + *setup.film.duration;
  ContactSheet out;
  for (std::uint64_t k = 0; k < count; ++k) {
    context.throw_if_cancelled();
    const double share = static_cast<double>(2 * k + 1) / static_cast<double>(2 * count);
    const std::int64_t at = begin + std::llround(static_cast<double>(end - begin) * share);
    Frames::Parameters how = setup.cut;
    how.start = at;
    how.end.reset();
    Frames frames(
        setup.film, how, {}, [](std::uint64_t) { return true; },
        [&](std::optional<std::int64_t> from) {
          return std::make_unique<video_file::VideoReader>(setup.film, 4, 1, context.budget.limit(), from,
                                                           [&context] { return context.cancel.cancelled(); });
        });
    FrameItem item;
    auto frame = frames.next();
    if (!frame) continue;  // the container claims to be longer than it is
    item.frame = *std::move(frame);
    const std::uint16_t* mask = nullptr;
    if (setup.has_masks()) {
      masking.prepare(item);
      if (setup.first) {
        wait_for([&](auto done) { masking.start_first_inference(item, std::move(done)); });
        masking.refine_region(item);
        wait_for([&](auto done) { masking.start_second_inference(item, std::move(done)); });
        masking.finish(item);
      }
      mask = postprocess_mask(setup, item, postprocess);
    }
    compositor.compose(item.frame.picture.pixels.get(), mask, picture.data(), workspace);
    sheet.add(picture.data());
    ++out.pictures;
  }
  write_png(output, sheet.width(), sheet.height(), 3, sheet.pixels());
  out.width = sheet.width();
  out.height = sheet.height();
  if (setup.network) {
    out.runtime = setup.network->session.runtime();
    out.precision = setup.network->session.precision();
  }
  return out;
}

}  // namespace millrace::video
