#include "src/jobs/video/shard_folder.h"

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

constexpr const char* kShardExtension = ".packets";

}  // namespace

FrameCounts& FrameCounts::operator+=(const FrameCounts& other) {
  frames += other.frames;
  damaged += other.damaged;
  retimed += other.retimed;
  errors += other.errors;
  reused += other.reused;
  by_fast_model += other.by_fast_model;
  return *this;
}

namespace {

Json json_of(const std::vector<ShardMetadata::FrameHash>& pictures) {
  Json out = Json::array();
  for (const ShardMetadata::FrameHash& each : pictures) out.push_back({each.pts, each.hash});
  return out;
}

std::vector<ShardMetadata::FrameHash> parse_frame_hashes(const Json& json) {
  std::vector<ShardMetadata::FrameHash> out;
  for (const Json& each : json) out.push_back({each.at(0).get<std::int64_t>(), each.at(1).get<std::uint64_t>()});
  return out;
}

// Returns the time of the shard's first frame.
std::int64_t begin_of(const video_file::PacketFileReader& packets) {
  std::int64_t out = packets.entries().front().pts;
  for (const auto& each : packets.entries()) out = std::min(out, each.pts);
  return out;
}

}  // namespace

std::string json_of(const ShardMetadata& note) {
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
  if (!note.runtime_and_cpu.empty()) out["made_by"] = replace_invalid_utf8(note.runtime_and_cpu);
  return out.dump();
}

std::optional<ShardMetadata> parse_shard_metadata(const std::string& json) {
  try {
    const Json parsed = Json::parse(json);
    ShardMetadata out;
    parsed.read("frames", out.counts.frames);
    parsed.read("damaged", out.counts.damaged);
    parsed.read("retimed", out.counts.retimed);
    parsed.read("errors", out.counts.errors);
    out.last = parse_frame_hashes(parsed.at("last"));
    out.before = parse_frame_hashes(parsed.at("before"));
    parsed.read("last_duration", out.last_duration);
    parsed.read("first", out.first);
    if (out.last.empty()) return std::nullopt;
    if (!parsed.at("next").is_null()) out.next = parsed.at("next").get<std::uint64_t>();
    parsed.read("next_pts", out.next_pts);
    out.runtime_and_cpu = parsed.value("made_by", "");
    parsed.read("reused", out.counts.reused);
    parsed.read("by_fast_model", out.counts.by_fast_model);
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

ShardFolder::ShardFolder(const std::string& output, const Attributes& provenance, const Parameters& how)
    : folder_(output), shard_spec_(how.shard_spec) {
  folder_.hold(shard_spec_ ? RunFolder::Hold::shared : RunFolder::Hold::alone);
  try {
    is_published_ = how.is_published && how.is_published();
  } catch (const Failure&) {
    folder_.abandon();
    throw;
  }
  if (is_published_) {
    folder_.abandon();
  } else {
    check_run_file(provenance, how.begin_anew);
  }
}

void ShardFolder::check_run_file(const Attributes& provenance, bool begin_anew) {
  const std::string run = folder_.path(RunFolder::kRunFile);
  std::error_code error;
  if (!std::filesystem::exists(run, error)) write_if_absent(run, millrace::json_of(provenance));
  const auto then = read_json_attributes(run);
  if (!then || then->empty() || then->front() != provenance.front()) {
    throw Failure(ErrorCode::conflict, "it holds unfinished work of another job", folder_.name(),
                  "finish that job, or use another name");
  }
  if (!shard_spec_) folder_.remove_stale_temporaries();
  const std::string different = describe_differences(*then, provenance);
  if (different.empty() && shard_spec_) check_run_count(folder_, shard_spec_);
  if (different.empty()) return;
  if ((has_shards() && !begin_anew) || shard_spec_) {
    throw Failure(ErrorCode::conflict,
                  "it holds an unfinished video of this name that was made differently: " + different, folder_.name(),
                  is_from_other_hardware(*then, provenance)
                      ? kMixedHardwareRemedy
                      : "use the same options to resume it, or remove this folder to start again");
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("."), error))
    if (entry.path().extension() == kShardExtension) std::filesystem::remove(entry.path(), ignored);
  write_file(run, millrace::json_of(provenance));
}

bool ShardFolder::has_shards() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path("."), error))
    if (entry.path().extension() == kShardExtension) return true;
  return false;
}

std::string ShardFolder::path(std::uint64_t k) const {
  return folder_.path(fmt::format("{:08}{}", k, kShardExtension));
}

std::optional<ShardFolder::Shard> ShardFolder::shard(std::uint64_t k) const {
  Outcome<video_file::PacketFileReader> packets = video_file::PacketFileReader::open(path(k));
  if (!packets || packets->entries().empty()) return std::nullopt;
  auto note = parse_shard_metadata(packets->note());
  if (!note || (note->next && *note->next <= k) || note->before.empty() != (k == 0)) return std::nullopt;
  return Shard{std::move(packets).or_throw(), *std::move(note)};
}

std::optional<PendingShard> ShardFolder::next(std::uint64_t k) {
  PendingShard out{k};
  if (shard_spec_) {
    while (!take(out.shard)) {
      if (const auto there = shard(out.shard); there && !there->note.next) return std::nullopt;
      ++out.shard;
    }
    if (out.shard == 0) return out;
    if (auto before = shard(out.shard - 1); before && before->note.next == out.shard)
      out.before = std::move(before->note);
    return out;
  }
  while (auto there = shard(out.shard)) {
    if (!there->note.next) return std::nullopt;
    out.shard = *there->note.next;
    out.before = std::move(there->note);
  }
  return out;
}

bool ShardFolder::take(std::uint64_t k) {
  if (!shard_spec_.has_shard(k) || shard(k)) return false;
  if (!shard_spec_) return true;
  if (!folder_.claim(k)) return false;
  // Another run may have made the shard in the meantime.
  if (!shard(k)) return true;
  folder_.release_claim(k);
  return false;
}

void ShardFolder::release_shard(std::uint64_t k) {
  if (shard_spec_) folder_.release_claim(k);
}

bool ShardFolder::is_whole() const {
  std::optional<std::uint64_t> k = 0;
  while (k) {
    const auto there = shard(*k);
    if (!there) return false;
    k = there->note.next;
  }
  return true;
}

bool ShardFolder::is_last() {
  if (!shard_spec_) return true;
  // The order matters: if two runs end at once, the later one to let go sees all shards and is alone.
  folder_.release_hold();
  if (!is_whole() || !folder_.hold_alone()) return false;
  shard_spec_ = {};
  folder_.remove_stale_temporaries();
  return is_whole();
}

bool ShardFolder::drop(const std::string& path) {
  std::error_code error;
  return path.starts_with(folder_.path("")) && path.ends_with(kShardExtension) && std::filesystem::remove(path, error);
}

std::optional<std::uint64_t> ShardFolder::remove_mismatched_shard() {
  std::optional<std::uint64_t> k = 0;
  std::optional<ShardMetadata> before;
  while (k) {
    auto there = shard(*k);
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

std::optional<ShardFolder::Shard> ShardIterator::next() {
  if (!k_) return std::nullopt;
  auto out = shards_.shard(*k_);
  if (!out) {
    throw Failure(ErrorCode::conflict, "a shard of the video is missing", shards_.path(*k_),
                  "run the same command again");
  }
  k_ = out->note.next;
  return out;
}

}  // namespace millrace::video
