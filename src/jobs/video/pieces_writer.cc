#include "src/jobs/video/pieces_writer.h"

#include <algorithm>

namespace millrace::video {

PiecesWriter::PiecesWriter(Segments& segments, std::size_t warm, std::string maker, const Frames& frames,
                           const Make& make)
    : segments_(segments),
      warm_(warm),
      maker_(std::move(maker)),
      frames_(frames),
      encoder_(make({[this](const film::Encoded& encoded) { opened(encoded); },
                     [this](film::EncodedPacket one) { packet(std::move(one)); }, [this] { ended(); }})) {}

void PiecesWriter::add(Made made) {
  const FilmFrame& frame = made.frame;
  const bool begins = !last_ || last_->frame.piece != frame.piece;
  if (!last_) {
    seen_ = first_seen_ = frames_.before();
    if (!seen_.empty()) last_duration_ = frame.pts - seen_.back().pts;
  }
  if (last_) send_last(frame.pts - last_->frame.pts);
  if (begins) {
    if (last_) end_piece(Frames::Beyond{frame.pts, frame.piece});
    note_ = {};
    note_.before = seen_;
    note_.maker = maker_;
    {
      const MutexLock lock(mutex_);
      begun_.emplace_back().piece = frame.piece;
    }
    encoder_->begin();
  }
  last_ = std::move(made);
}

void PiecesWriter::send_last(std::int64_t duration) {
  const FilmFrame& frame = last_->frame;
  {
    const MutexLock lock(mutex_);
    begun_.back().durations[frame.pts] = duration;
  }
  encoder_->send(last_->slot, frame.pts, duration);
  last_duration_ = duration;
  recent_.push_back(frame);
  if (recent_.size() > std::max<std::size_t>(warm_, 1)) recent_.pop_front();
  Counts one;
  one.frames = 1;
  one.errors = frame.errors;
  one.damaged = frame.picture.damaged ? 1 : 0;
  one.retimed = frame.retimed ? 1 : 0;
  one.reused = last_->reused ? 1 : 0;
  one.by_fast_model = last_->by_fast_model ? 1 : 0;
  note_.counts += one;
  sum_ += one;
}

void PiecesWriter::end_piece(const std::optional<Frames::Beyond>& next) {
  seen_ = first_seen_;
  for (const FilmFrame& each : recent_) seen_.push_back({each.pts, hash_of(each.picture)});
  const std::size_t kept = std::max<std::size_t>(warm_, 1);
  if (seen_.size() > kept) seen_.erase(seen_.begin(), seen_.end() - static_cast<std::ptrdiff_t>(kept));
  note_.last = seen_;
  note_.last_duration = last_duration_;
  note_.first = frames_.first().value();
  if (next) {
    note_.next = next->piece;
    note_.next_pts = next->pts;
  } else {
    note_.counts.errors += frames_.errors_behind();
    sum_.errors += frames_.errors_behind();
  }
  {
    const MutexLock lock(mutex_);
    begun_.back().note = json_of(note_);
  }
  encoder_->drain();
}

void PiecesWriter::finish(std::int64_t duration) {
  if (last_) {
    const auto& beyond = frames_.beyond();
    send_last(beyond         ? beyond->pts - last_->frame.pts
              : duration > 0 ? duration
                             : std::max<std::int64_t>(last_duration_, 1));
    end_piece(beyond);
    last_.reset();
  }
  encoder_->finish();
}

void PiecesWriter::opened(const film::Encoded& encoded) {
  encoded_ = encoded;
  encoder_name_ = encoded.encoder;
  std::uint64_t piece = 0;
  {
    const MutexLock lock(mutex_);
    piece = begun_.front().piece;
  }
  file_ = std::make_unique<film::PacketFileWriter>(segments_.path(piece));
}

void PiecesWriter::packet(film::EncodedPacket packet) {
  {
    const MutexLock lock(mutex_);
    auto& durations = begun_.front().durations;
    const auto found = durations.find(packet.pts);
    if (found == durations.end())
      throw Failure(ErrorCode::internal, "the encoder gave a picture another time",
                    segments_.path(begun_.front().piece), "");
    packet.duration = found->second;
    durations.erase(found);
  }
  file_->append(packet);
}

void PiecesWriter::ended() {
  std::string note;
  std::uint64_t piece = 0;
  {
    const MutexLock lock(mutex_);
    if (!begun_.front().durations.empty())
      throw Failure(ErrorCode::internal, "the encoder left pictures out", segments_.path(begun_.front().piece), "");
    note = std::move(begun_.front().note);
    piece = begun_.front().piece;
    begun_.pop_front();
  }
  file_->commit(encoded_, note);
  file_.reset();
  segments_.let_go(piece);
}

}  // namespace millrace::video
