#include "src/jobs/video/video_inputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/video/video_muxer.h"
#include "src/jobs/named_inputs.h"
#include "src/pipeline/checkpoint/run_folder.h"

namespace millrace::video {
namespace {

constexpr const char* kMasks = ".mattes";

// File name endings of videos; a folder is searched for these. Other files must be named themselves.
constexpr std::array<std::string_view, 25> kEndings = {
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mts", ".m2ts", ".ts",  ".mpg", ".mpeg", ".m2v", ".vob",
    ".wmv", ".asf", ".flv", ".f4v", ".3gp",  ".3g2", ".ogv", ".ogm",  ".mxf", ".dv",  ".rm",   ".divx"};

// True for a .ts file that is not MPEG-TS, such as TypeScript. MPEG-TS packets begin with a sync byte; the first packet
// may start at any byte.
bool is_not_mpeg_ts(const FileEntry& entry) {
  constexpr unsigned char kSync = 0x47;
  constexpr std::size_t kProbedBytes = 1 << 16, kPackets = 4;
  if (!lower_ascii(entry.path).ends_with(".ts") || entry.size == 0) return false;
  const Descriptor file(::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::vector<unsigned char> bytes(kProbedBytes);
  const ssize_t got = file ? ::pread(file.get(), bytes.data(), bytes.size(), 0) : -1;
  if (got < 0) return false;  // the error is reported when the file is opened
  for (const std::size_t packet : {188, 192, 204}) {
    for (std::size_t first = 0; first + kPackets * packet <= static_cast<std::size_t>(got); ++first) {
      std::size_t k = 0;
      while (k < kPackets && bytes[first + k * packet] == kSync) ++k;
      if (k == kPackets) return false;
    }
  }
  return true;
}

// Returns the name of the output. It keeps the video's own ending if this program can write that container.
std::string make_output_name(const std::string& name, const VideoOptions& options) {
  if (options.shown() == ShownContent::files) return name + kMasks;
  const std::string own = video_file::container_of(name);
  const std::string ending = "." + std::string(choice_name(options.container));
  if (options.container == Container::automatic) return own.empty() ? name + ".mkv" : name;
  return lower_ascii(name).ends_with(ending) ? name : name + ending;
}

}  // namespace

bool is_collection(const VideoOptions& options) {
  std::error_code error;
  return options.inputs.size() > 1 ||
         (options.inputs.size() == 1 && std::filesystem::is_directory(options.inputs.front(), error));
}

bool has_video_extension(const std::string& path) {
  const std::string name = lower_ascii(file_name(path));
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.size() > ending.size() && name.ends_with(ending); });
}

VideoInputs find_videos(const VideoOptions& options, const RunContext& context) {
  InputRules rules;
  rules.argument = "VIDEO";
  rules.accepts = [](const FileEntry& file) { return has_video_extension(file.path) && !is_not_mpeg_ts(file); };
  rules.name = [&options](const std::string& relative_path) { return make_output_name(relative_path, options); };
  rules.reserved = {RunFolder::kRunFile};
  // The name of a folder NAME or NAME.shards is taken if there is an output NAME.
  rules.inputs_of_result = [](const std::string& folder) {
    return std::vector{RunFolder::from_shards_folder(folder).output()};
  };
  NamedInputs found = find_inputs(options.inputs, options.output, options.files, rules, context);
  VideoInputs out;
  out.unreadable = std::move(found.unreadable);
  out.links = found.links;
  for (const NamedInput& input : found.inputs) {
    out.inodes.emplace(input.file.device, input.file.inode);
    VideoOptions one = options;
    one.inputs = {input.file.path};
    one.output = join_path(options.output, input.name);
    one.container = Container::automatic;
    one.shard_spec = {};
    if (!options.masks.empty()) one.masks = join_path(options.masks, input.relative_path + kMasks);
    out.videos.push_back(std::move(one));
  }
  return out;
}

}  // namespace millrace::video
