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
  return fmt::format("{} x {}, {} bits, {}", shape.width, shape.height, shape.depth, film::words_of(shape.colors));
}

// All that conversions depend on.
bool same_samples(film::Shape a, film::Shape b) {
  a.interlaced = b.interlaced = 0;
  a.aspect_num = b.aspect_num = 0;
  a.aspect_den = b.aspect_den = 1;
  return a == b;
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
  return out >> 1;  // JSON's numbers have a sign
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::floor(seconds));
  return fmt::format("{}:{:02}:{:06.3f}", whole / 3600, whole / 60 % 60,
                     seconds - static_cast<double>(whole / 60 * 60));
}

Frames::Frames(const film::FilmFile& film, const How& how, const std::optional<Note>& last, Reader open)
    : film_(film),
      how_(how),
      first_(how.start                     ? *how.start
             : film.first == film::kNoTime ? 0
                                           : film.first),
      units_(std::max<std::int64_t>(std::llround(how.seconds_a_piece / film.time_base.value()), 1)),
      open_(std::move(open)) {
  if (!last) {
    reader_ = open_(how.start);
    if (how.start) skip_to(*how.start);
    return;
  }
  if (!last->next) return;  // nothing is missing
  // From a key frame before the last pictures of what is there: the last one has to come out as it did. Where it does
  // not, what comes behind it may be other than it was, too, and all is decoded once more.
  reader_ = open_(last->warm_pts);
  if (find_last(*last)) return;
  before_.reset();
  recent_.clear();
  reader_ = open_(how.start);
  skip_to(last->next_pts);
}

bool Frames::find_last(const Note& last) {
  try {
    while (auto frame = read()) {
      if (frame->pts < last.last_pts) continue;
      return frame->pts == last.last_pts && !frame->retimed && frame->picture.pixels &&
             hash_of(frame->picture) == last.last_hash;
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
    for (FilmFrame each : before) {
      if (how_.start && each.pts < *how_.start) continue;
      each.warm = true;
      each.piece = frame->piece;
      ahead_.push_back(std::move(each));
    }
    ahead_.push_back(*std::move(frame));
    return;
  }
}

std::optional<FilmFrame> Frames::next() {
  if (ahead_.empty() && reader_) {
    const std::deque<FilmFrame> before = recent_;
    auto frame = read();
    if (!frame || (how_.end && frame->pts >= *how_.end)) {
      reader_.reset();
      return std::nullopt;
    }
    if (!before.empty() && before.back().piece != frame->piece) {
      for (FilmFrame each : before) {
        each.warm = true;
        each.piece = frame->piece;
        ahead_.push_back(std::move(each));
      }
    }
    ahead_.push_back(*std::move(frame));
  }
  if (ahead_.empty()) return std::nullopt;
  FilmFrame out = std::move(ahead_.front());
  ahead_.pop_front();
  return out;
}

std::optional<FilmFrame> Frames::read() {
  auto picture = reader_->next();
  if (!picture) {
    errors_behind_ = reader_->errors() - std::min(errors_, reader_->errors());
    return std::nullopt;
  }
  errors_ = picture->errors;
  FilmFrame out;
  out.pts = picture->pts;
  if (out.pts == film::kNoTime || (before_ && out.pts <= *before_)) {
    out.pts = before_ ? *before_ + 1 : first_;
    out.retimed = true;
  }
  before_ = out.pts;
  if (!same_samples(picture->shape, film_.shape)) {
    throw Failure(ErrorCode::unsupported,
                  fmt::format("at {} its pictures change from {} to {}", time_text(film_.seconds(out.pts - first_)),
                              words_of(film_.shape), words_of(picture->shape)),
                  film_.path, "cut it there, and do its parts one by one");
  }
  out.piece = out.pts <= first_ ? 0 : static_cast<std::uint64_t>(out.pts - first_) / static_cast<std::uint64_t>(units_);
  out.picture = *std::move(picture);
  if (how_.warm > 0) {
    recent_.push_back(out);
    if (recent_.size() > how_.warm) recent_.pop_front();
  }
  return out;
}

}  // namespace millrace::video
