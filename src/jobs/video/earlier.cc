#include "src/jobs/video/earlier.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <span>
#include <vector>

#include "src/base/json.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/place.h"
#include "src/io/file/reader.h"
#include "src/io/output/output.h"
#include "src/io/video/film_file.h"
#include "src/jobs/video/mattes.h"

namespace millrace::video {
namespace {

constexpr const char *kRecordMark = "video film", *kMasksMark = "video masks", *kRecordEnding = ".video.json";

Json json_of(const Earlier& made, const char* mark) {
  return {{kJsonMark, mark},
          {"made_of", made.digest},
          {"frames", made.counts.frames},
          {"damaged", made.counts.damaged},
          {"packets_not_decoded", made.counts.errors}};
}

// Returns the JSON in a file; null if it has another mark.
Json json_in(const std::string& path, const char* mark) {
  constexpr std::uint64_t kMostBytes = 1 << 16;
  const auto text = read_text(path, kMostBytes);
  if (!text) return {};
  Json out = Json::parse_or_null(*text);
  return out.is_object() && out.value(kJsonMark, Json()) == mark ? out : Json();
}

std::optional<Earlier> earlier_of(const Json& json) {
  try {
    Earlier out;
    out.digest = json.at("made_of").get<std::string>();
    json.read("frames", out.counts.frames);
    json.read("damaged", out.counts.damaged);
    json.read("packets_not_decoded", out.counts.errors);
    return out;
  } catch (const Json::Error&) {
    return std::nullopt;
  }
}

std::string record_path(const std::string& output) { return output + kRecordEnding; }

// Returns the state of a video or a folder of masks; empty if it is neither.
std::string state_of(const std::string& output) {
  const Descriptor file(::open(output.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return "";
  if (S_ISREG(info.st_mode)) return fingerprint_of(file.get(), static_cast<std::uint64_t>(info.st_size));
  if (!S_ISDIR(info.st_mode) || !earlier_masks(output)) return "";
  try {
    return Mattes(output).digest();
  } catch (const Failure&) {
    return "";
  }
}

}  // namespace

std::string writer_text(const Earlier& made, const std::string& network) {
  return fmt::format("Millrace {} ({} frames, {} damaged, {} packets not decoded){}{}", made.digest, made.counts.frames,
                     made.counts.damaged, made.counts.errors, network.empty() ? "" : "; ", network);
}

std::optional<Earlier> earlier_film(const std::string& path, RunContext& context) {
  static const std::regex kForm(
      R"(Millrace ([0-9a-f]{16}) \((\d{1,18}) frames, (\d{1,18}) damaged, (\d{1,18}) packets not decoded\)(; .*)?)");
  constexpr std::size_t kMostText = 1000;
  std::string writer;
  try {
    writer =
        film::open_film(path, -1, context.budget.limit(), [&context] { return context.cancel.cancelled(); }).writer;
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled || context.cancel.cancelled()) throw;
    return std::nullopt;
  }
  std::smatch found;
  if (writer.size() > kMostText || !std::regex_match(writer, found, kForm)) return std::nullopt;
  Earlier out;
  out.digest = found[1].str();
  out.counts.frames = std::stoull(found[2].str());
  out.counts.damaged = std::stoull(found[3].str());
  out.counts.errors = std::stoull(found[4].str());
  return out;
}

std::string masks_note(const Earlier& made, const std::set<std::string>& makers) {
  Json out = json_of(made, kMasksMark);
  if (!makers.empty()) out["made_by"] = makers;
  return out.dump(1) + "\n";
}

std::optional<Earlier> earlier_masks(const std::string& folder) {
  auto out = earlier_of(json_in(path_in(folder, kMasksNote), kMasksMark));
  if (!out) return std::nullopt;
  std::error_code error;
  std::uint64_t masks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".png") ++masks;
  if (masks != out->counts.frames) return std::nullopt;
  return out;
}

void write_record(const std::string& output, const Earlier& made) {
  Json json = json_of(made, kRecordMark);
  json["state"] = state_of(output);
  write_file(record_path(output), json.dump(1) + "\n");
}

std::optional<Earlier> record_of(const std::string& output) {
  const Json json = json_in(record_path(output), kRecordMark);
  auto out = earlier_of(json);
  const std::string state = state_of(output);
  if (!out || state.empty() || json.value("state", Json()) != state) return std::nullopt;
  return out;
}

std::string fingerprint_of(int file, std::uint64_t size) {
  constexpr std::uint64_t kParts = 16, kBytes = 1 << 16;
  std::vector<std::uint8_t> bytes(kParts * kBytes);
  std::size_t got = 0;
  for (std::uint64_t k = 0; k < kParts; ++k) {
    const std::uint64_t last = size > kBytes ? size - kBytes : 0;
    const ssize_t n = ::pread(file, bytes.data() + got, kBytes, static_cast<off_t>(last * k / (kParts - 1)));
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return fmt::format("{} bytes, {:016x}", size, short_hash(std::span(bytes.data(), got)));
}

}  // namespace millrace::video
