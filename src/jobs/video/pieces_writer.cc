#include "src/jobs/video/pieces_writer.h"

namespace millrace::video {

PiecesWriter::PiecesWriter(const Segments& segments, const film::EncoderOptions& options, const std::string& subject,
                           std::uint32_t slots, Bytes memory, const std::function<bool()>& cancelled)
    : segments_(segments),
      encoder_(options, subject, slots, memory,
               {[this](const film::Encoded& encoded) { opened(encoded); },
                [this](film::EncodedPacket one) { packet(std::move(one)); }, [this] { ended(); }},
               cancelled) {}

void PiecesWriter::add(FilmFrame frame, const film::FilmEncoder::Slot& slot) {
  const bool begins = !last_ || last_->frame.piece != frame.piece;
  if (last_) send_last(frame.pts - last_->frame.pts);
  if (begins) {
    if (last_) end_piece(&frame);
    note_ = {};
    {
      const std::lock_guard lock(mutex_);
      begun_.emplace_back().piece = frame.piece;
    }
    encoder_.begin();
  }
  last_ = Last{std::move(frame), slot};
}

void PiecesWriter::send_last(std::int64_t duration) {
  const FilmFrame& frame = last_->frame;
  {
    const std::lock_guard lock(mutex_);
    begun_.back().durations[frame.pts] = duration;
  }
  encoder_.send(last_->slot, frame.pts, duration);
  last_duration_ = duration;
  ++note_.frames;
  note_.damaged += frame.picture.damaged ? 1 : 0;
  note_.retimed += frame.retimed ? 1 : 0;
}

void PiecesWriter::end_piece(const FilmFrame* next) {
  note_.last_pts = last_->frame.pts;
  note_.last_hash = hash_of(last_->frame.picture);
  if (next != nullptr) {
    note_.next = next->piece;
    note_.next_pts = next->pts;
  }
  frames_ += note_.frames;
  damaged_ += note_.damaged;
  retimed_ += note_.retimed;
  {
    const std::lock_guard lock(mutex_);
    begun_.back().note = json_of(note_);
  }
  encoder_.drain();
}

void PiecesWriter::finish(std::int64_t duration) {
  if (last_) {
    send_last(duration > 0 ? duration : last_duration_ > 0 ? last_duration_ : 1);
    end_piece(nullptr);
    last_.reset();
  }
  encoder_.finish();
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
      throw Failure(ErrorCode::internal, "the encoder gave a picture another time", segments_.path(begun_.front().piece), "");
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
