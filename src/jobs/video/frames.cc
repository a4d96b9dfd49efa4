#include "src/jobs/video/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "src/io/file/reader.h"
#include "src/io/video/colors.h"

namespace millrace::video {
namespace {

std::string shape_in_words(const film::Shape& shape) {
  const char* kind = shape.kind == film::Kind::rgb ? "RGB" : shape.kind == film::Kind::gray ? "gray" : "YUV";
  return fmt::format("{} x {}, {} of {} bits{}, chroma {}:{}, {}", shape.width, shape.height, kind, shape.depth,
                     shape.alpha != 0 ? " with transparency" : "", 1 << shape.log2_cw, 1 << shape.log2_ch,
                     film::words_of(shape.colors));
}

// True if two formats agree in everything that conversions depend on.
bool same_samples(film::Shape a, film::Shape b) {
  a.interlaced = b.interlaced = 0;
  a.aspect_num = b.aspect_num = 0;
  a.aspect_den = b.aspect_den = 1;
  return a == b;
}

// True for containers that store timestamps. In others a time is counted from where the decoder began, or in packets,
// which may be off by one.
bool has_times_of_its_own(const film::FilmFile& film) {
  return film.format.starts_with("mov,") || film.format.starts_with("matroska") || film.format == "mpegts";
}

}  // namespace

std::uint64_t hash_of(const film::Picture& picture) {
  // The content of a damaged frame depends on the timing of the decoder's threads.
  if (picture.damaged) return 0;
  const film::Layout layout = film::layout_of(picture.shape);
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

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::floor(seconds));
  const std::int64_t minutes = whole / 60;
  return fmt::format("{}:{:02}:{:06.3f}", minutes / 60, minutes % 60, seconds - 60 * static_cast<double>(minutes));
}

Frames::Frames(const film::FilmFile& film, const How& how, const Task& task, Wanted wanted, Reader open)
    : film_(film),
      how_(how),
      wanted_(std::move(wanted)),
      open_(std::move(open)),
      begins_with_(task.piece),
      units_(std::max<std::int64_t>(std::llround(how.seconds_a_piece / film.time_base.value()), 1)) {
  constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
  if (task.before) first_ = task.before->first;
  if (!first_) go_to(how.start.value_or(kEarliest), {});
  if (!first_ || task.piece == 0) return;
  // The time of such a shard would overflow. It can only lie behind the video's end.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 61;
  if (task.piece > kMost / static_cast<std::uint64_t>(units_)) {
    reader_.reset();
    return;
  }
  go_to(task.before ? task.before->next_pts : *first_ + static_cast<std::int64_t>(task.piece) * units_, task);
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
void Frames::go_to(std::int64_t pts, const Task& task) {
  constexpr double kFirstStep = 2, kTimes = 4;
  const std::optional<std::int64_t> first = first_;
  std::int64_t goal = pts;
  double seconds = 0;
  while (true) {
    const double units = std::min(seconds / film_.time_base.value(), static_cast<double>(film::kMostTime));
    const bool front = !has_times_of_its_own(film_) || film_.first == film::kNoTime ||
                       goal <= film_.first + 1 + static_cast<std::int64_t>(units);
    seconds = seconds == 0 ? kFirstStep : kTimes * seconds;
    first_ = first;
    try {
      bool differs = false;
      open(front ? std::nullopt : std::optional(goal - 1 - static_cast<std::int64_t>(units)));
      if (skip_to(pts, task, front, differs)) return;
      if (!differs || goal == *first) continue;
      goal = *first;
      seconds = 0;
    } catch (const Failure& failure) {
      if (front || failure.error().code == ErrorCode::cancelled) throw;
    }
  }
}

// Returns false if the frames where decoding began cannot be trusted and are not the beginning of the video.
bool Frames::skip_to(std::int64_t pts, const Task& task, bool front, bool& differs) {
  // Frames that an uninterrupted run would have decoded before `pts`.
  std::deque<FilmFrame> trail;
  const std::size_t wanted = std::max<std::size_t>(how_.warm, 1);
  bool begins = true, covers = front;
  while (auto frame = read()) {
    if (begins && !front) {
      if (frame->pts > pts || (task.piece > 0 && frame->pts == pts) || frame->retimed || frame->picture.damaged)
        return false;
      covers = first_ && frame->pts <= *first_;
    }
    begins = false;
    if (frame->pts >= pts) {
      unread_ = std::move(frame);
      break;
    }
    if (task.piece == 0 || frame->pts < *first_) continue;
    trail.push_back(*std::move(frame));
    if (trail.size() > wanted) trail.pop_front();
  }
  if (!covers && task.piece > 0 && trail.size() < wanted) return false;
  seen_.clear();
  for (const FilmFrame& each : trail) seen_.push_back({each.pts, hash_of(each.picture)});
  differs = task.before && seen_ != task.before->last;
  if (differs && !covers) return false;
  if (how_.warm > 0) recent_ = std::move(trail);
  return true;
}

std::optional<FilmFrame> Frames::next() {
  while (true) {
    if (!ahead_.empty()) {
      FilmFrame out = std::move(ahead_.front());
      ahead_.pop_front();
      return out;
    }
    if (!reader_) return std::nullopt;
    auto frame = std::exchange(unread_, std::nullopt);
    if (!frame) frame = read();
    if (!frame || !give(*std::move(frame))) reader_.reset();
  }
}

// Returns false if neither this frame nor a later one belongs to this run.
bool Frames::give(FilmFrame frame) {
  if (how_.end && frame.pts >= *how_.end) return false;
  if (piece_ != frame.piece) {
    if ((piece_ || frame.piece != begins_with_) && !wanted_(frame.piece)) {
      beyond_ = {frame.pts, frame.piece};
      return false;
    }
    piece_ = frame.piece;
    for (FilmFrame each : recent_) {
      each.warm = true;
      each.piece = frame.piece;
      ahead_.push_back(std::move(each));
    }
  }
  if (how_.warm > 0) {
    recent_.push_back(frame);
    if (recent_.size() > how_.warm) recent_.pop_front();
  }
  ahead_.push_back(std::move(frame));
  return true;
}

std::optional<FilmFrame> Frames::read() {
  auto picture = reader_->next();
  if (!picture) {
    errors_behind_ = reader_->errors() - std::min(errors_, reader_->errors());
    return std::nullopt;
  }
  FilmFrame out;
  out.errors = picture->errors - std::min(errors_, picture->errors);
  errors_ = picture->errors;
  out.pts = picture->pts;
  if (out.pts == film::kNoTime) {
    out.pts = before_ ? *before_ + step_ : film_.begin();
    out.retimed = true;
  }
  if (!same_samples(picture->shape, film_.shape)) {
    const double seconds = film_.seconds(out.pts - film_.begin());
    throw Failure(
        ErrorCode::unsupported,
        fmt::format("at {} its pictures change from {} to {}", time_text(seconds), shape_in_words(film_.shape),
                    shape_in_words(picture->shape)),
        film_.path,
        fmt::format("do what comes before it with --end {0:.3f}, and what comes behind it as a film of its own",
                    seconds));
  }
  const double nominal = film_.rate.num > 0 ? 1 / film_.rate.value() / film_.time_base.value() : 1;
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
  out.piece =
      out.pts <= *first_ ? 0 : static_cast<std::uint64_t>(out.pts - *first_) / static_cast<std::uint64_t>(units_);
  return out;
}

}  // namespace millrace::video
