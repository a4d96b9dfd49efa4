#include "src/jobs/video/output_record.h"

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
#include "src/io/file/directory_entry.h"
#include "src/io/file/file_reader.h"
#include "src/io/output/output.h"
#include "src/io/video/video_file.h"
#include "src/jobs/video/mask_folder.h"

namespace millrace::video {
namespace {

constexpr const char *kRecordMark = "video film", *kMasksMark = "video masks", *kRecordEnding = ".video.json";

Json json_of(const OutputRecord& made, const char* mark) {
  return {{kJsonMark, mark},
          {"made_of", made.digest},
          {"frames", made.counts.frames},
          {"damaged", made.counts.damaged},
          {"packets_not_decoded", made.counts.errors}};
}

// Returns the JSON in a file; null if it has another mark.
Json json_in(const std::string& path, const char* mark) {
  constexpr std::uint64_t kMaxBytes = 1 << 16;
  const auto text = read_text(path, kMaxBytes);
  if (!text) return {};
  Json out = Json::parse_or_null(*text);
  return out.is_object() && out.value(kJsonMark, Json()) == mark ? out : Json();
}

std::optional<OutputRecord> parse_output_record(const Json& json) {
  try {
    OutputRecord out;
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
  if (S_ISREG(info.st_mode)) return hash_file_samples(file.get(), static_cast<std::uint64_t>(info.st_size));
  if (!S_ISDIR(info.st_mode) || !read_masks_record(output)) return "";
  try {
    return MaskFolder(output).digest();
  } catch (const Failure&) {
    return "";
  }
}

}  // namespace

std::string format_writer_tag(const OutputRecord& made, const std::string& network) {
  return fmt::format("Millrace {} ({} frames, {} damaged, {} packets not decoded){}{}", made.digest, made.counts.frames,
                     made.counts.damaged, made.counts.errors, network.empty() ? "" : "; ", network);
}

std::optional<OutputRecord> read_video_tag(const std::string& path, RunContext& context) {
  static const std::regex kForm(
      R"(Millrace ([0-9a-f]{16}) \((\d{1,18}) frames, (\d{1,18}) damaged, (\d{1,18}) packets not decoded\)(; .*)?)");
  constexpr std::size_t kMaxText = 1000;
  std::string writer;
  try {
    writer = video_file::open_video(path, -1, context.budget.limit(), [&context] {
               return context.cancel.cancelled();
             }).writer;
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled || context.cancel.cancelled()) throw;
    return std::nullopt;
  }
  std::smatch found;
  if (writer.size() > kMaxText || !std::regex_match(writer, found, kForm)) return std::nullopt;
  OutputRecord out;
  out.digest = found[1].str();
  out.counts.frames = std::stoull(found[2].str());
  out.counts.damaged = std::stoull(found[3].str());
  out.counts.errors = std::stoull(found[4].str());
  return out;
}

std::string format_masks_record(const OutputRecord& made, const std::set<std::string>& runtimes_and_cpus) {
  Json out = json_of(made, kMasksMark);
  if (!runtimes_and_cpus.empty()) out["made_by"] = runtimes_and_cpus;
  return out.dump(1) + "\n";
}

std::optional<OutputRecord> read_masks_record(const std::string& folder) {
  auto out = parse_output_record(json_in(join_path(folder, kMasksRecordFile), kMasksMark));
  if (!out) return std::nullopt;
  std::error_code error;
  std::uint64_t masks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".png") ++masks;
  if (masks != out->counts.frames) return std::nullopt;
  return out;
}

void write_output_record(const std::string& output, const OutputRecord& made) {
  Json json = json_of(made, kRecordMark);
  json["state"] = state_of(output);
  write_file(record_path(output), json.dump(1) + "\n");
}

std::optional<OutputRecord> read_output_record(const std::string& output) {
  const Json json = json_in(record_path(output), kRecordMark);
  auto out = parse_output_record(json);
  const std::string state = state_of(output);
  if (!out || state.empty() || json.value("state", Json()) != state) return std::nullopt;
  return out;
}

std::string hash_file_samples(int file, std::uint64_t size) {
  constexpr std::uint64_t kSamples = 16, kBytes = 1 << 16;
  std::vector<std::uint8_t> bytes(kSamples * kBytes);
  std::size_t got = 0;
  for (std::uint64_t k = 0; k < kSamples; ++k) {
    const std::uint64_t last = size > kBytes ? size - kBytes : 0;
    const ssize_t n = ::pread(file, bytes.data() + got, kBytes, static_cast<off_t>(last * k / (kSamples - 1)));
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return fmt::format("{} bytes, {:016x}", size, short_hash(std::span(bytes.data(), got)));
}

}  // namespace millrace::video
