#include "src/jobs/video/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "src/io/file/reader.h"
#include "src/io/video/colors.h"

namespace millrace::video {
namespace {

std::string words_of(const film::Shape& shape) {
  const char* kind = shape.kind == film::Kind::rgb ? "RGB" : shape.kind == film::Kind::gray ? "gray" : "YUV";
  return fmt::format("{} x {}, {} of {} bits{}, chroma {}:{}, {}", shape.width, shape.height, kind, shape.depth,
                     shape.alpha != 0 ? " with transparency" : "", 1 << shape.log2_cw, 1 << shape.log2_ch,
                     film::words_of(shape.colors));
}

// All that conversions depend on.
bool same_samples(film::Shape a, film::Shape b) {
  a.interlaced = b.interlaced = 0;
  a.aspect_num = b.aspect_num = 0;
  a.aspect_den = b.aspect_den = 1;
  return a == b;
}

// In others a time is a count from where the decoder began, or of packets, which may be off by one.
bool has_times_of_its_own(const film::FilmFile& film) {
  return film.format.starts_with("mov,") || film.format.starts_with("matroska") || film.format == "mpegts";
}

}  // namespace

std::uint64_t hash_of(const film::Picture& picture) {
  const film::Layout layout = film::layout_of(picture.shape);
  std::uint64_t out = 0;
  // What lies behind the rows is whatever was there.
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

Frames::Frames(const film::FilmFile& film, const How& how, const std::optional<Note>& last, Reader open)
    : film_(film),
      how_(how),
      units_(std::max<std::int64_t>(std::llround(how.seconds_a_piece / film.time_base.value()), 1)),
      open_(std::move(open)) {
  if (last) first_ = last->first;
  if (!last && !how.start) {
    reader_ = open_(std::nullopt);
  } else if (!last) {
    open_before(*how.start);
    skip_to(*how.start);
  } else if (last->next) {
    // The pictures that the piece before has ended with have to come out as they did. Where they do not, what comes
    // behind them may be other than it was, too, and all is decoded once more.
    open_before(last->last.front().pts);
    if (find_last(*last)) return;
    recent_.clear();
    if (how.start) {
      open_before(*how.start);
    } else {
      reader_.reset();
      before_.reset();
      unread_.reset();
      reader_ = open_(std::nullopt);
    }
    skip_to(last->next_pts);
  }
}

// Containers find a place by their own lights: behind it, or at a picture that others before it are needed for. The
// decoder then begins later than it was told to.
void Frames::open_before(std::int64_t pts) {
  constexpr double kFirstStep = 2, kTimes = 4;
  const std::optional<std::int64_t> first = first_;
  for (double seconds = 0;; seconds = seconds == 0 ? kFirstStep : kTimes * seconds) {
    const std::int64_t from = pts - std::llround(seconds / film_.time_base.value());
    reader_.reset();
    unread_.reset();
    before_.reset();
    recent_.clear();
    if (!has_times_of_its_own(film_) || film_.first == film::kNoTime || from <= film_.first) break;
    try {
      reader_ = open_(from);
      auto frame = read();
      first_ = first;
      if (!frame || frame->pts > pts || frame->retimed || frame->picture.damaged) continue;
      recent_.clear();
      before_.reset();
      unread_ = std::move(frame);
      return;
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::cancelled) throw;
      first_ = first;
    }
  }
  reader_ = open_(std::nullopt);
}

bool Frames::find_last(const Note& last) {
  std::size_t k = 0;
  try {
    while (auto frame = read()) {
      const Note::Seen& wanted = last.last[k];
      if (k == 0 && frame->pts < wanted.pts) continue;
      if (frame->pts != wanted.pts || frame->retimed || hash_of(frame->picture) != wanted.hash) return false;
      if (++k == last.last.size()) return true;
    }
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
  }
  return false;
}

void Frames::skip_to(std::int64_t pts) {
  while (true) {
    const std::deque<FilmFrame> before = recent_;
    auto frame = read();
    if (!frame) return;
    if (frame->pts < pts) continue;
    // What a run that did not stop would have had before it.
    emit(*std::move(frame), before);
    return;
  }
}

void Frames::emit(FilmFrame frame, const std::deque<FilmFrame>& before) {
  for (FilmFrame each : before) {
    each.warm = true;
    each.piece = frame.piece;
    ahead_.push_back(std::move(each));
  }
  ahead_.push_back(std::move(frame));
}

std::optional<FilmFrame> Frames::next() {
  if (ahead_.empty() && reader_) {
    const std::deque<FilmFrame> before = recent_;
    auto frame = read();
    if (!frame) {
      reader_.reset();
      return std::nullopt;
    }
    const bool begins = !before.empty() && before.back().piece != frame->piece;
    emit(*std::move(frame), begins ? before : std::deque<FilmFrame>());
  }
  if (ahead_.empty()) return std::nullopt;
  if (how_.end && ahead_.back().pts >= *how_.end) {
    ahead_.clear();
    reader_.reset();
    return std::nullopt;
  }
  FilmFrame out = std::move(ahead_.front());
  ahead_.pop_front();
  return out;
}

std::optional<FilmFrame> Frames::read() {
  FilmFrame out;
  if (unread_) {
    out = *std::move(unread_);
    unread_.reset();
  } else {
    auto picture = reader_->next();
    if (!picture) {
      errors_behind_ = reader_->errors() - std::min(errors_, reader_->errors());
      return std::nullopt;
    }
    errors_ = picture->errors;
    out.pts = picture->pts;
    if (out.pts == film::kNoTime) {
      out.pts = before_ ? *before_ + step_ : first_.value_or(film_.begin());
      out.retimed = true;
    }
    if (!same_samples(picture->shape, film_.shape)) {
      const double seconds = film_.seconds(out.pts - film_.begin());
      throw Failure(
          ErrorCode::unsupported,
          fmt::format("at {} its pictures change from {} to {}", time_text(seconds), words_of(film_.shape),
                      words_of(picture->shape)),
          film_.path,
          fmt::format("do what comes before it with --end {0:.3f}, and what comes behind it as a film of its own",
                      seconds));
    }
    const double nominal = film_.rate.num > 0 ? 1 / film_.rate.value() / film_.time_base.value() : 1;
    step_ =
        picture->duration > 0 ? picture->duration : std::max<std::int64_t>(std::llround(std::min(nominal, 1e12)), 1);
    out.picture = *std::move(picture);
  }
  if (before_ && out.pts <= *before_) {
    out.pts = *before_ + 1;
    out.retimed = true;
  }
  before_ = out.pts;
  if (how_.start && out.pts < *how_.start) return out;
  // The first one that is kept, wherever it lies.
  if (!first_) first_ = out.pts;
  out.piece =
      out.pts <= *first_ ? 0 : static_cast<std::uint64_t>(out.pts - *first_) / static_cast<std::uint64_t>(units_);
  if (how_.warm > 0) {
    recent_.push_back(out);
    if (recent_.size() > how_.warm) recent_.pop_front();
  }
  return out;
}

}  // namespace millrace::video
