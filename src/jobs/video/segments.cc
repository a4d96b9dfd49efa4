#include "src/jobs/video/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/output/output.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::video {
namespace {

constexpr const char* kPiece = ".packets";

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  frames += other.frames;
  damaged += other.damaged;
  retimed += other.retimed;
  errors += other.errors;
  reused += other.reused;
  by_fast_model += other.by_fast_model;
  return *this;
}

namespace {

Json json_of(const std::vector<Note::Seen>& pictures) {
  Json out = Json::array();
  for (const Note::Seen& each : pictures) out.push_back({each.pts, each.hash});
  return out;
}

std::vector<Note::Seen> seen_of(const Json& json) {
  std::vector<Note::Seen> out;
  for (const Json& each : json) out.push_back({each.at(0).get<std::int64_t>(), each.at(1).get<std::uint64_t>()});
  return out;
}

// Returns the time of the shard's first frame.
std::int64_t begin_of(const film::PacketFileReader& packets) {
  std::int64_t out = packets.entries().front().pts;
  for (const auto& each : packets.entries()) out = std::min(out, each.pts);
  return out;
}

}  // namespace

std::string json_of(const Note& note) {
  Json out({{"frames", note.counts.frames},
            {"damaged", note.counts.damaged},
            {"retimed", note.counts.retimed},
            {"errors", note.counts.errors},
            {"last", json_of(note.last)},
            {"before", json_of(note.before)},
            {"last_duration", note.last_duration},
            {"first", note.first},
            {"next", note.next ? Json(*note.next) : Json()},
            {"next_pts", note.next_pts},
            {"reused", note.counts.reused},
            {"by_fast_model", note.counts.by_fast_model}});
  if (!note.maker.empty()) out["made_by"] = utf8_for_display(note.maker);
  return out.dump();
}

std::optional<Note> note_of(const std::string& json) {
  try {
    const Json said = Json::parse(json);
    Note out;
    said.read("frames", out.counts.frames);
    said.read("damaged", out.counts.damaged);
    said.read("retimed", out.counts.retimed);
    said.read("errors", out.counts.errors);
    out.last = seen_of(said.at("last"));
    out.before = seen_of(said.at("before"));
    said.read("last_duration", out.last_duration);
    said.read("first", out.first);
    if (out.last.empty()) return std::nullopt;
    if (!said.at("next").is_null()) out.next = said.at("next").get<std::uint64_t>();
    said.read("next_pts", out.next_pts);
    out.maker = said.value("made_by", "");
    said.read("reused", out.counts.reused);
    said.read("by_fast_model", out.counts.by_fast_model);
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

Segments::Segments(const std::string& output, const Attributes& made_of, const How& how)
    : folder_(output), share_(how.share) {
  folder_.hold(share_ ? RunFolder::Hold::shared : RunFolder::Hold::alone);
  try {
    is_made_ = how.is_made && how.is_made();
  } catch (const Failure&) {
    folder_.abandon();
    throw;
  }
  if (is_made_) {
    folder_.abandon();
  } else {
    check_run_file(made_of, how.begin_anew);
  }
}

void Segments::check_run_file(const Attributes& made_of, bool begin_anew) {
  const std::string run = folder_.path(RunFolder::kRunFile);
  std::error_code error;
  if (!std::filesystem::exists(run, error)) write_first(run, millrace::json_of(made_of));
  const auto then = attributes_in_json(run);
  if (!then || then->empty() || then->front() != made_of.front()) {
    throw Failure(ErrorCode::conflict, "what another job has not finished lies in it", folder_.name(),
                  "finish that, or give another name");
  }
  if (!share_) folder_.remove_partial();
  const std::string different = differences(*then, made_of);
  if (different.empty() && share_) agree_on_runs(folder_, share_);
  if (different.empty()) return;
  if ((has_pieces() && !begin_anew) || share_) {
    throw Failure(
        ErrorCode::conflict, "an unfinished film of this name was made otherwise: " + different, folder_.name(),
        made_elsewhere(*then, made_of) ? kElsewhereRemedy
                                       : "give the same options to go on with it, or remove this folder to begin anew");
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("."), error))
    if (entry.path().extension() == kPiece) std::filesystem::remove(entry.path(), ignored);
  write_file(run, millrace::json_of(made_of));
}

bool Segments::has_pieces() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("."), error))
    if (entry.path().extension() == kPiece) return true;
  return false;
}

std::string Segments::path(std::uint64_t k) const { return folder_.path(fmt::format("{:08}{}", k, kPiece)); }

std::optional<Segments::Piece> Segments::piece(std::uint64_t k) const {
  Outcome<film::PacketFileReader> packets = film::PacketFileReader::open(path(k));
  if (!packets || packets->entries().empty()) return std::nullopt;
  auto note = note_of(packets->note());
  if (!note || (note->next && *note->next <= k) || note->before.empty() != (k == 0)) return std::nullopt;
  return Piece{std::move(packets).or_throw(), *std::move(note)};
}

std::optional<Task> Segments::next(std::uint64_t k) {
  Task out{k};
  if (share_) {
    while (!take(out.piece)) {
      if (const auto there = piece(out.piece); there && !there->note.next) return std::nullopt;
      ++out.piece;
    }
    if (out.piece == 0) return out;
    if (auto before = piece(out.piece - 1); before && before->note.next == out.piece)
      out.before = std::move(before->note);
    return out;
  }
  while (auto there = piece(out.piece)) {
    if (!there->note.next) return std::nullopt;
    out.piece = *there->note.next;
    out.before = std::move(there->note);
  }
  return out;
}

bool Segments::take(std::uint64_t k) {
  if (!share_.has(k) || piece(k)) return false;
  if (!share_) return true;
  if (!folder_.claim(k)) return false;
  // Another run may have made the shard in the meantime.
  if (!piece(k)) return true;
  folder_.unclaim(k);
  return false;
}

void Segments::let_go(std::uint64_t k) {
  if (share_) folder_.unclaim(k);
}

bool Segments::is_whole() const {
  std::optional<std::uint64_t> k = 0;
  while (k) {
    const auto there = piece(*k);
    if (!there) return false;
    k = there->note.next;
  }
  return true;
}

bool Segments::is_last() {
  if (!share_) return true;
  // The order matters: if two runs end at once, the later one to let go sees all shards and is alone.
  folder_.let_others_in();
  if (!is_whole() || !folder_.hold_alone()) return false;
  share_ = {};
  folder_.remove_partial();
  return is_whole();
}

bool Segments::drop(const std::string& path) {
  std::error_code error;
  return path.starts_with(folder_.path("")) && path.ends_with(kPiece) && std::filesystem::remove(path, error);
}

std::optional<std::uint64_t> Segments::drop_misfit() {
  std::optional<std::uint64_t> k = 0;
  std::optional<Note> before;
  while (k) {
    auto there = piece(*k);
    if (!there) return std::nullopt;
    if (before && (there->note.before != before->last || begin_of(there->packets) != before->next_pts)) {
      std::error_code error;
      std::filesystem::remove(path(*k), error);
      if (error) throw Failure(system_error("it cannot be removed", path(*k), error.value()));
      return k;
    }
    k = there->note.next;
    before = std::move(there->note);
  }
  return std::nullopt;
}

std::optional<Segments::Piece> Pieces::next() {
  if (!k_) return std::nullopt;
  auto out = segments_.piece(*k_);
  if (!out) {
    throw Failure(ErrorCode::conflict, "a piece of the film is not there any more", segments_.path(*k_),
                  "run the same command again");
  }
  k_ = out->note.next;
  return out;
}

}  // namespace millrace::video
