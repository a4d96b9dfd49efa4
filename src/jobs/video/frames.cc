#include "src/jobs/video/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "src/io/file/file_reader.h"
#include "src/io/video/colors.h"

namespace millrace::video {
namespace {

std::string shape_in_words(const video_file::FrameShape& shape) {
  const char* kind = shape.kind == video_file::ColorModel::rgb    ? "RGB"
                     : shape.kind == video_file::ColorModel::gray ? "gray"
                                                                  : "YUV";
  return fmt::format("{} x {}, {} of {} bits{}, chroma {}:{}, {}", shape.width, shape.height, kind, shape.depth,
                     shape.alpha != 0 ? " with transparency" : "", 1 << shape.log2_cw, 1 << shape.log2_ch,
                     video_file::words_of(shape.colors));
}

// True if two formats agree in everything that conversions depend on.
bool has_same_sample_format(video_file::FrameShape a, video_file::FrameShape b) {
  a.interlaced = b.interlaced = 0;
  a.aspect_num = b.aspect_num = 0;
  a.aspect_den = b.aspect_den = 1;
  return a == b;
}

// True for containers that store timestamps. In others a time is counted from where the decoder began, or in packets,
// which may be off by one.
bool has_timestamps(const video_file::VideoFile& film) {
  return film.format.starts_with("mov,") || film.format.starts_with("matroska") || film.format == "mpegts";
}

}  // namespace

std::uint64_t hash_of(const video_file::VideoFrame& picture) {
  // The content of a damaged frame depends on the timing of the decoder's threads.
  if (picture.damaged) return 0;
  const video_file::FrameLayout layout = video_file::layout_of(picture.shape);
  std::uint64_t out = 0;
  // The padding behind each row has undefined content, and is not hashed.
  for (std::uint32_t p = 0; p < picture.shape.planes(); ++p) {
    const std::size_t row = static_cast<std::size_t>(picture.shape.plane_width(p)) * picture.shape.sample_bytes();
    for (std::size_t y = 0; y < static_cast<std::size_t>(picture.shape.plane_height(p)); ++y)
      out = out * 1099511628211U +
            short_hash(std::span(picture.pixels.get() + layout.offset[p] + y * layout.stride[p], row));
  }
  return out;
}

std::string format_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::floor(seconds));
  const std::int64_t minutes = whole / 60;
  return fmt::format("{}:{:02}:{:06.3f}", minutes / 60, minutes % 60, seconds - 60 * static_cast<double>(minutes));
}

Frames::Frames(const video_file::VideoFile& film, const Parameters& how, const PendingShard& pending, ClaimShard wanted,
               OpenReader open)
    : video_(film),
      how_(how),
      claim_shard_(std::move(wanted)),
      open_(std::move(open)),
      begins_with_(pending.shard),
      units_(std::max<std::int64_t>(std::llround(how.seconds_per_shard / film.time_base.value()), 1)) {
  constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
  if (pending.before) first_ = pending.before->first;
  if (!first_) seek_to(how.start.value_or(kEarliest), {});
  if (!first_ || pending.shard == 0) return;
  // The time of such a shard would overflow. It can only lie behind the video's end.
  constexpr std::uint64_t kMaxTicks = std::uint64_t{1} << 61;
  if (pending.shard > kMaxTicks / static_cast<std::uint64_t>(units_)) {
    reader_.reset();
    return;
  }
  seek_to(pending.before ? pending.before->next_pts : *first_ + static_cast<std::int64_t>(pending.shard) * units_,
          pending);
}

void Frames::open(std::optional<std::int64_t> from) {
  unread_.reset();
  before_.reset();
  recent_.clear();
  reader_.reset();
  errors_ = 0;
  reader_ = open_(from);
}

// Seeks to `pts`. Containers seek inexactly: to a later frame, or to one whose reference frames come before it. Then
// decoding starts again at an earlier time. The last frames of the shard before must also decode as they did for that
// shard. If they differ, later frames may differ as well, and decoding starts again at the first frame.
void Frames::seek_to(std::int64_t pts, const PendingShard& pending) {
  constexpr double kFirstStep = 2, kTimes = 4;
  const std::optional<std::int64_t> first = first_;
  std::int64_t goal = pts;
  double seconds = 0;
  while (true) {
    const double units = std::min(seconds / video_.time_base.value(), static_cast<double>(video_file::kMaxTime));
    const bool front = !has_timestamps(video_) || video_.first == video_file::kNoTime ||
                       goal <= video_.first + 1 + static_cast<std::int64_t>(units);
    seconds = seconds == 0 ? kFirstStep : kTimes * seconds;
    first_ = first;
    try {
      bool differs = false;
      open(front ? std::nullopt : std::optional(goal - 1 - static_cast<std::int64_t>(units)));
      if (skip_to(pts, pending, front, differs)) return;
      if (!differs || goal == *first) continue;
      goal = *first;
      seconds = 0;
    } catch (const Failure& failure) {
      if (front || failure.error().code == ErrorCode::cancelled) throw;
    }
  }
}

// Returns false if the frames where decoding began cannot be trusted and are not the beginning of the video.
bool Frames::skip_to(std::int64_t pts, const PendingShard& pending, bool front, bool& differs) {
  // Frames that an uninterrupted run would have decoded before `pts`.
  std::deque<ShardFrame> trail;
  const std::size_t wanted = std::max<std::size_t>(how_.warmup, 1);
  bool begins = true, covers = front;
  while (auto frame = read()) {
    if (begins && !front) {
      if (frame->pts > pts || (pending.shard > 0 && frame->pts == pts) || frame->retimed || frame->picture.damaged)
        return false;
      covers = first_ && frame->pts <= *first_;
    }
    begins = false;
    if (frame->pts >= pts) {
      unread_ = std::move(frame);
      break;
    }
    if (pending.shard == 0 || frame->pts < *first_) continue;
    trail.push_back(*std::move(frame));
    if (trail.size() > wanted) trail.pop_front();
  }
  if (!covers && pending.shard > 0 && trail.size() < wanted) return false;
  seen_.clear();
  for (const ShardFrame& each : trail) seen_.push_back({each.pts, hash_of(each.picture)});
  differs = pending.before && seen_ != pending.before->last;
  if (differs && !covers) return false;
  if (how_.warmup > 0) recent_ = std::move(trail);
  return true;
}

std::optional<ShardFrame> Frames::next() {
  while (true) {
    if (!ahead_.empty()) {
      ShardFrame out = std::move(ahead_.front());
      ahead_.pop_front();
      return out;
    }
    if (!reader_) return std::nullopt;
    auto frame = std::exchange(unread_, std::nullopt);
    if (!frame) frame = read();
    if (!frame || !queue_frame(*std::move(frame))) reader_.reset();
  }
}

// Returns false if neither this frame nor a later one belongs to this run.
bool Frames::queue_frame(ShardFrame frame) {
  if (how_.end && frame.pts >= *how_.end) return false;
  if (shard_ != frame.shard) {
    if ((shard_ || frame.shard != begins_with_) && !claim_shard_(frame.shard)) {
      frame_after_end_ = {frame.pts, frame.shard};
      return false;
    }
    shard_ = frame.shard;
    for (ShardFrame each : recent_) {
      each.warmup = true;
      each.shard = frame.shard;
      ahead_.push_back(std::move(each));
    }
  }
  if (how_.warmup > 0) {
    recent_.push_back(frame);
    if (recent_.size() > how_.warmup) recent_.pop_front();
  }
  ahead_.push_back(std::move(frame));
  return true;
}

std::optional<ShardFrame> Frames::read() {
  auto picture = reader_->next();
  if (!picture) {
    errors_after_end_ = reader_->errors() - std::min(errors_, reader_->errors());
    return std::nullopt;
  }
  ShardFrame out;
  out.errors = picture->errors - std::min(errors_, picture->errors);
  errors_ = picture->errors;
  out.pts = picture->pts;
  if (out.pts == video_file::kNoTime) {
    out.pts = before_ ? *before_ + step_ : video_.begin();
    out.retimed = true;
  }
  if (!has_same_sample_format(picture->shape, video_.shape)) {
    const double seconds = video_.seconds(out.pts - video_.begin());
    throw Failure(
        ErrorCode::unsupported,
        fmt::format("at {} its frames change from {} to {}", format_time(seconds), shape_in_words(video_.shape),
                    shape_in_words(picture->shape)),
        video_.path,
        fmt::format("process the frames before that with --end {0:.3f}, and the rest as a video of its own", seconds));
  }
  const double nominal = video_.rate.num > 0 ? 1 / video_.rate.value() / video_.time_base.value() : 1;
  step_ = picture->duration > 0 ? picture->duration : std::max<std::int64_t>(std::llround(std::min(nominal, 1e12)), 1);
  out.picture = *std::move(picture);
  if (before_ && out.pts <= *before_) {
    out.pts = *before_ + 1;
    out.retimed = true;
  }
  before_ = out.pts;
  if (how_.start && out.pts < *how_.start) return out;
  // The first frame that is kept starts the first shard, wherever it lies.
  if (!first_) first_ = out.pts;
  out.shard =
      out.pts <= *first_ ? 0 : static_cast<std::uint64_t>(out.pts - *first_) / static_cast<std::uint64_t>(units_);
  return out;
}

}  // namespace millrace::video
