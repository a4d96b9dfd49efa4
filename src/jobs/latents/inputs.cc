#include "src/jobs/latents/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/io/tensor/npy.h"

namespace millrace::latents {
namespace {

// What a path says, below the folder that was named.
struct Named {
  std::string group, video;
  long long step = 0;
};

// The step in "step_012.npy"; nothing where the name is another.
std::optional<long long> step_of(std::string_view name) {
  constexpr std::string_view kFront = "step_", kEnd = ".npy";
  if (!name.starts_with(kFront) || !name.ends_with(kEnd)) return std::nullopt;
  name = name.substr(kFront.size(), name.size() - kFront.size() - kEnd.size());
  long long out = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out);
  if (error != std::errc() || end != name.data() + name.size() || out < 0) return std::nullopt;
  return out;
}

std::optional<Named> named(std::string_view below) {
  std::vector<std::string> parts = split(below, '/');
  if (parts.size() == 4 && parts.front() == "latents") parts.erase(parts.begin());
  if (parts.size() != 3) return std::nullopt;
  const auto step = step_of(parts[2]);
  if (!step) return std::nullopt;
  return Named{parts[0], parts[1], *step};
}

Error refused(const FileEntry& file, const std::string& what, const std::string& remedy = "") {
  return {ErrorCode::bad_data, what, printable(file.path), remedy};
}

// What the header says; an error where that is no latent.
Outcome<void> describe(const Options& options, LatentFile& latent) {
  const auto header = npy::read_header(latent.file.path);
  if (!header) return header.error();
  const std::string words = header->words();
  const auto readable = {kFloat16, kFloat32, kFloat64};
  if (!header->plain() || std::find(readable.begin(), readable.end(), header->fields[0].type) == readable.end()) {
    return refused(latent.file, "it holds " + words + ", and a latent is float16, float32 or float64");
  }
  std::vector<std::uint64_t> shape = header->shape;
  // A batch of one.
  if (shape.size() == 5 && shape.front() == 1) shape.erase(shape.begin());
  const bool image = shape.size() == 3;
  if (image) shape.insert(shape.begin() + 1, 1);
  if (shape.size() != 4) {
    return refused(latent.file, "it is " + words + ", and a latent is [C, F, H, W] or [C, H, W]");
  }
  if (!image && options.layout == Layout::fchw) std::swap(shape[0], shape[1]);
  const std::uint64_t most[] = {kMostChannels, kMostFrames, kMostSide, kMostSide};
  for (std::size_t i = 0; i < 4; ++i) {
    if (shape[i] < 1 || shape[i] > most[i]) {
      return refused(latent.file, fmt::format("it is {}, and a latent has up to {} channels, {} frames and sides of {}",
                                              words, kMostChannels, kMostFrames, kMostSide));
    }
  }
  latent.shape = {static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2]),
                  static_cast<int>(shape[3])};
  latent.type = header->fields[0].type;
  latent.layout = image ? Layout::cfhw : options.layout;
  latent.offset = header->data_offset;
  return {};
}

// What most of the files that are asked have; of what is had as often, what comes first.
template <typename Key, typename KeyOf>
Key commonest(const std::vector<LatentFile>& files, std::size_t begin, std::size_t end, const KeyOf& key_of) {
  std::map<Key, std::size_t> counts;
  for (std::size_t i = begin; i < end; ++i) ++counts[key_of(files[i])];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

std::string words_of(const LatentFile& latent) {
  return fmt::format("{} [{}, {}, {}, {}]", name_of(latent.type), latent.shape.channels, latent.shape.frames,
                     latent.shape.height, latent.shape.width);
}

// What differs from most, in anything but the number of frames; or in that from most of its video.
void leave_out_others(LatentSet& set) {
  const auto kind = [](const LatentFile& latent) {
    return std::tuple(latent.shape.channels, latent.shape.height, latent.shape.width, latent.type.bits);
  };
  using Kind = decltype(kind(LatentFile{}));
  const auto usual = commonest<Kind>(set.files, 0, set.files.size(), kind);
  const auto like = *std::find_if(set.files.begin(), set.files.end(), [&](const auto& l) { return kind(l) == usual; });
  std::vector<LatentFile> same;
  for (LatentFile& latent : set.files) {
    if (kind(latent) == usual) {
      same.push_back(std::move(latent));
    } else {
      set.unusable.push_back(refused(latent.file, fmt::format("it is {}, and most are like {}: only frames may differ",
                                                              words_of(latent), words_of(like))));
    }
  }
  set.files.clear();
  for (std::size_t begin = 0; begin < same.size();) {
    std::size_t end = begin;
    while (end < same.size() && same[end].video == same[begin].video) ++end;
    const int frames = commonest<int>(same, begin, end, [](const LatentFile& latent) { return latent.shape.frames; });
    for (std::size_t i = begin; i < end; ++i) {
      if (same[i].shape.frames == frames) {
        set.files.push_back(std::move(same[i]));
      } else {
        set.unusable.push_back(refused(
            same[i].file, fmt::format("it has {} frames, and most of its video {}", same[i].shape.frames, frames)));
      }
    }
    begin = end;
  }
}

// Steps of which a video has two files, as step_1.npy and step_001.npy.
void refuse_twice(LatentSet& set) {
  std::vector<LatentFile> out;
  for (LatentFile& latent : set.files) {
    if (!out.empty() && out.back().video == latent.video && out.back().step == latent.step) {
      set.unusable.push_back(refused(
          latent.file, fmt::format("step {} is {} already", latent.step, printable(file_name(out.back().file.path)))));
    } else {
      out.push_back(std::move(latent));
    }
  }
  set.files = std::move(out);
}

}  // namespace

std::size_t LatentSet::groups() const {
  std::size_t out = 0;
  for (std::size_t i = 0; i < videos.size(); ++i) out += i == 0 || videos[i].group != videos[i - 1].group ? 1 : 0;
  return out;
}

int LatentSet::most_frames() const {
  int out = 0;
  for (const LatentFile& latent : files) out = std::max(out, latent.shape.frames);
  return out;
}

std::string LatentSet::digest() const {
  std::string all;
  for (const LatentFile& latent : files) {
    const Video& video = videos[latent.video];
    all +=
        fmt::format("{}/{}/{} {} {}\n", video.group, video.name, latent.step, latent.file.size, latent.file.mtime_ns);
  }
  return fmt::format("{:016x}", short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()}));
}

LatentSet find_latents(const Options& options, RunContext& context) {
  const std::string& root = options.inputs.at(0);
  WalkOptions how;
  how.cancelled = [&context] { return context.cancel.cancelled(); };
  WalkResult found = walk({root}, how);
  context.throw_if_cancelled();
  LatentSet out;
  out.unusable = std::move(found.unreadable);
  std::vector<std::pair<Named, LatentFile>> all;
  const std::size_t front = root.ends_with('/') ? root.size() : root.size() + 1;
  for (FileEntry& file : found.files) {
    if (file.path.size() <= front) continue;
    auto name = named(std::string_view(file.path).substr(front));
    if (!name || !options.steps.has(name->step) || !glob_match(options.groups, name->group)) continue;
    LatentFile latent;
    latent.file = std::move(file);
    latent.step = name->step;
    all.emplace_back(*std::move(name), std::move(latent));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.group, a.first.video, a.first.step, a.second.file.path) <
           std::tie(b.first.group, b.first.video, b.first.step, b.second.file.path);
  });
  for (auto& [name, latent] : all) {
    context.throw_if_cancelled();
    // Two such names could look like one in what is written.
    if (!is_utf8(name.group) || !is_utf8(name.video)) {
      out.unusable.push_back(refused(latent.file, "its group or its video has a name that is not UTF-8", "rename it"));
      continue;
    }
    if (const auto described = describe(options, latent); !described.ok()) {
      out.unusable.push_back(described.error());
      continue;
    }
    if (out.videos.empty() || out.videos.back().group != name.group || out.videos.back().name != name.video)
      out.videos.push_back({name.group, name.video});
    latent.video = out.videos.size() - 1;
    out.files.push_back(std::move(latent));
  }
  if (out.files.empty()) {
    const std::string reason = out.unusable.empty() ? "" : ": " + out.unusable.front().message();
    throw Failure(ErrorCode::not_found, "no latents were found" + reason, printable(root),
                  "a latent is GROUP/VIDEO/step_000.npy in it; --groups and --steps choose among them");
  }
  refuse_twice(out);
  leave_out_others(out);
  return out;
}

}  // namespace millrace::latents
