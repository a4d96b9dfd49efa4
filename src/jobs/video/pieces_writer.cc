#include "src/jobs/video/pieces_writer.h"

#include <algorithm>

namespace millrace::video {

PiecesWriter::PiecesWriter(const Segments& segments, std::size_t warm, const std::optional<Note>& last,
                           const Make& make)
    : segments_(segments),
      warm_(warm),
      encoder_(make({[this](const film::Encoded& encoded) { opened(encoded); },
                     [this](film::EncodedPacket one) { packet(std::move(one)); }, [this] { ended(); }})) {
  if (!last) return;
  last_duration_ = last->last_duration;
  first_ = last->first;
}

void PiecesWriter::add(Made made) {
  const FilmFrame& frame = made.frame;
  if (!first_) first_ = frame.pts;
  const bool begins = !last_ || last_->frame.piece != frame.piece;
  if (last_) send_last(frame.pts - last_->frame.pts);
  if (begins) {
    if (last_) end_piece(&frame);
    note_ = {};
    {
      const std::lock_guard lock(mutex_);
      begun_.emplace_back().piece = frame.piece;
    }
    encoder_->begin();
  }
  last_ = std::move(made);
}

void PiecesWriter::send_last(std::int64_t duration) {
  const FilmFrame& frame = last_->frame;
  {
    const std::lock_guard lock(mutex_);
    begun_.back().durations[frame.pts] = duration;
  }
  encoder_->send(last_->slot, frame.pts, duration);
  last_duration_ = duration;
  recent_.push_back(frame);
  if (recent_.size() > std::max<std::size_t>(warm_, 1)) recent_.pop_front();
  // Another reader counts from 0 on.
  const std::uint64_t errors = frame.picture.errors - std::min(errors_, frame.picture.errors);
  errors_ = frame.picture.errors;
  Counts one;
  one.frames = 1;
  one.errors = errors;
  one.damaged = frame.picture.damaged ? 1 : 0;
  one.retimed = frame.retimed ? 1 : 0;
  one.reused = last_->reused ? 1 : 0;
  one.by_fast_model = last_->by_fast_model ? 1 : 0;
  note_.counts += one;
  sum_ += one;
}

void PiecesWriter::end_piece(const FilmFrame* next) {
  note_.last.clear();
  for (const FilmFrame& each : recent_) note_.last.push_back({each.pts, hash_of(each.picture)});
  note_.last_duration = last_duration_;
  note_.first = *first_;
  if (next != nullptr) {
    note_.next = next->piece;
    note_.next_pts = next->pts;
  }
  {
    const std::lock_guard lock(mutex_);
    begun_.back().note = json_of(note_);
  }
  encoder_->drain();
}

void PiecesWriter::finish(std::int64_t duration) {
  if (last_) {
    send_last(duration > 0 ? duration : last_duration_ > 0 ? last_duration_ : 1);
    end_piece(nullptr);
    last_.reset();
  }
  encoder_->finish();
}

void PiecesWriter::opened(const film::Encoded& encoded) {
  encoded_ = encoded;
  encoder_name_ = encoded.encoder;
  std::uint64_t piece = 0;
  {
    const std::lock_guard lock(mutex_);
    piece = begun_.front().piece;
  }
  file_ = std::make_unique<film::PacketFileWriter>(segments_.path(piece));
}

void PiecesWriter::packet(film::EncodedPacket packet) {
  {
    const std::lock_guard lock(mutex_);
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
  {
    const std::lock_guard lock(mutex_);
    if (!begun_.front().durations.empty())
      throw Failure(ErrorCode::internal, "the encoder left pictures out", segments_.path(begun_.front().piece), "");
    note = std::move(begun_.front().note);
    begun_.pop_front();
  }
  file_->commit(encoded_, note);
  file_.reset();
}

}  // namespace millrace::video
