#include "src/jobs/video/segments.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/io/file/atomic_file.h"
#include "src/io/output/output.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::video {
namespace {

using Json = nlohmann::ordered_json;

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

std::string json_of(const Note& note) {
  Json last = Json::array();
  for (const Note::Seen& each : note.last) last.push_back({each.pts, each.hash});
  return Json({{"frames", note.counts.frames},
               {"damaged", note.counts.damaged},
               {"retimed", note.counts.retimed},
               {"errors", note.counts.errors},
               {"last", last},
               {"last_duration", note.last_duration},
               {"first", note.first},
               {"next", note.next ? Json(*note.next) : Json()},
               {"next_pts", note.next_pts},
               {"reused", note.counts.reused},
               {"by_fast_model", note.counts.by_fast_model}})
      .dump();
}

std::optional<Note> note_of(const std::string& json) {
  try {
    const Json said = Json::parse(json);
    Note out;
    out.counts.frames = said.at("frames");
    out.counts.damaged = said.at("damaged");
    out.counts.retimed = said.at("retimed");
    out.counts.errors = said.at("errors");
    for (const Json& each : said.at("last")) out.last.push_back({each.at(0), each.at(1)});
    out.last_duration = said.at("last_duration");
    out.first = said.at("first");
    if (out.last.empty()) return std::nullopt;
    if (!said.at("next").is_null()) out.next = said.at("next").get<std::uint64_t>();
    out.next_pts = said.at("next_pts");
    out.counts.reused = said.at("reused");
    out.counts.by_fast_model = said.at("by_fast_model");
    return out;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Segments::Segments(const std::string& output, const Attributes& made_of) : folder_(output) {
  folder_.hold(RunFolder::Hold::alone);
  const std::string run = folder_.path(RunFolder::kRunFile);
  std::error_code error;
  if (!std::filesystem::exists(run, error)) {
    write_file(run, millrace::json_of(made_of));
    return;
  }
  const auto then = attributes_in_json(run);
  if (!then || then->empty() || then->front() != made_of.front()) {
    throw Failure(ErrorCode::conflict, "what another job has not finished lies in it", folder_.name(),
                  "finish that, or give another name");
  }
  folder_.remove_partial();
  const std::string different = differences(*then, made_of);
  if (different.empty()) return;
  if (has_pieces()) {
    throw Failure(ErrorCode::conflict, "an unfinished film of this name was made otherwise: " + different,
                  folder_.name(), "give the same options to go on with it, or remove this folder to begin anew");
  }
  // It got no further than that.
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
  if (!packets) return std::nullopt;
  auto note = note_of(packets->note());
  if (!note || (note->next && *note->next <= k)) return std::nullopt;
  return Piece{std::move(packets).or_throw(), *std::move(note)};
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
