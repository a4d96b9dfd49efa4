#include "src/jobs/latents/latent_set.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/file/file_reader.h"
#include "src/jobs/latents/latent_files.h"

namespace millrace::latents {
namespace {

Error make_error(const std::string& path, const std::string& what, const std::string& remedy = "") {
  return {ErrorCode::bad_data, what, escape_unprintable(path), remedy};
}

std::string describe_tensor(const tensor_file::Tensor& tensor) {
  return fmt::format("{} [{}]", name_of(tensor.type), fmt::join(tensor.shape, ", "));
}

// Returns the tensor that --key names, or the only one.
Outcome<tensor_file::Tensor> choose_tensor(const std::string& key, const std::string& path,
                                           std::vector<tensor_file::Tensor> tensors) {
  if (tensors.empty()) return make_error(path, "it contains no numeric tensor");
  if (tensors.size() == 1 && (key.empty() || tensors.front().name.empty())) return std::move(tensors.front());
  std::string names;
  constexpr std::size_t kMaxNames = 8;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!key.empty() && tensors[i].name == key) return std::move(tensors[i]);
    if (i < kMaxNames) names += fmt::format("{}{}", i > 0 ? ", " : "", escape_unprintable(tensors[i].name));
  }
  if (tensors.size() > kMaxNames) names += fmt::format(" and {} more", tensors.size() - kMaxNames);
  if (key.empty())
    return make_error(path, fmt::format("it contains {} tensors: {}", tensors.size(), names),
                      "choose one with --key NAME");
  return make_error(path, fmt::format("it contains no tensor '{}'; found {}", escape_unprintable(key), names));
}

// Hash of a file's first and last 4096 bytes: files of one name and size may have one time too, as out of an archive.
std::uint64_t hash_file_ends(const std::string& path, std::uint64_t size) {
  constexpr std::uint64_t kEnd = 4096;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<std::uint8_t, 2 * kEnd> bytes{};
  std::uint64_t out = 0;
  if (!file) return out;  // the error is reported when the file is read
  const ssize_t first = ::pread(file.get(), bytes.data(), kEnd, 0);
  const ssize_t last = ::pread(file.get(), bytes.data() + kEnd, kEnd, static_cast<off_t>(size - std::min(size, kEnd)));
  if (first >= 0 && last >= 0) out = short_hash(bytes);
  return out;
}

// Reads a latent's type, shape and place from its file's header; returns an error if the file holds no latent.
Outcome<void> read_latent_header(const LatentsJobOptions& options, tensor_file::Format format, LatentFile& latent,
                                 const std::function<bool()>& cancelled) {
  const std::string& path = latent.file.path;
  auto tensors = tensor_file::list(path, format, cancelled);
  if (!tensors) return tensors.error();
  auto chosen = choose_tensor(options.key, path, *std::move(tensors));
  if (!chosen) return chosen.error();
  latent.tensor = *std::move(chosen);
  const std::string words = describe_tensor(latent.tensor);
  const auto readable = {kFloat16, kBfloat16, kFloat32, kFloat64};
  if (std::find(readable.begin(), readable.end(), latent.tensor.type) == readable.end()) {
    return make_error(path, "it contains " + words + "; expected float16, bfloat16, float32 or float64");
  }
  std::vector<std::uint64_t> shape = latent.tensor.shape;
  // Removes a batch axis of 1.
  if (shape.size() == 5 && shape.front() == 1) shape.erase(shape.begin());
  // Removes the batch axis of an image. Only the user knows that it is not one channel.
  if (options.layout == AxisOrder::bchw && shape.size() == 4 && shape.front() == 1) shape.erase(shape.begin());
  const bool image = shape.size() == 3;
  if (image) shape.insert(shape.begin() + 1, 1);
  if (shape.size() != 4) return make_error(path, "it is " + words + "; expected [C, F, H, W] or [C, H, W]");
  if (!image && options.layout == AxisOrder::fchw) std::swap(shape[0], shape[1]);
  const std::uint64_t most[] = {kMaxChannels, kMaxFrames, kMaxSide, kMaxSide};
  for (std::size_t i = 0; i < 4; ++i) {
    if (shape[i] < 1 || shape[i] > most[i]) {
      return make_error(
          path, fmt::format("it is {}; expected 1 to {} channels, 1 to {} frames, and a height and width from 1 to {}",
                            words, kMaxChannels, kMaxFrames, kMaxSide));
    }
  }
  latent.shape = {static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2]),
                  static_cast<int>(shape[3])};
  if (!image && options.layout == AxisOrder::bchw)
    return make_error(path, "it is " + words + "; --layout BCHW expects [1, C, H, W] or [C, H, W]");
  latent.layout = image ? AxisOrder::cfhw : options.layout;
  return {};
}

// Returns the noise that is left at a step (sigma), in units of the latent.
Outcome<double> read_sigma(const NamedLatent& latent) {
  const std::string remedy = "choose another --normalize, or write sigma to the latent's step_..._metadata.json";
  if (latent.metadata.empty())
    return make_error(latent.file.path, "--normalize snr needs its sigma, but it has no metadata file", remedy);
  constexpr std::uint64_t kMaxTextBytes = 1 << 20;
  const auto text = read_text(latent.metadata, kMaxTextBytes);
  if (!text) return text.error();
  const auto json = Json::parse_or_null(*text);
  if (!json.is_object()) return make_error(latent.metadata, "it is not a JSON object");
  const auto sigma = json.find("sigma");
  if (!sigma || !sigma->is_number())
    return make_error(latent.metadata, "--normalize snr needs a number 'sigma', but none was found", remedy);
  const double value = sigma->get<double>();
  // docs/design/latents-statistics.md gives the reasons for the constants of this file.
  constexpr double kMaxSigma = 1e9;  // a latent that is divided by more has no digits left
  if (!(value >= 0 && value <= kMaxSigma))
    return make_error(latent.metadata, "its sigma is out of range; expected 0 to 1e9");
  return value;
}

// Returns the most frequent key of files [begin, end); of equally frequent keys, the smallest.
template <typename Key, typename KeyOf>
Key find_most_common(const std::vector<LatentFile>& files, std::size_t begin, std::size_t end, const KeyOf& key_of) {
  std::map<Key, std::size_t> counts;
  for (std::size_t i = begin; i < end; ++i) ++counts[key_of(files[i])];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

std::string describe_tensor(const LatentFile& latent) {
  return fmt::format("{} [{}, {}, {}, {}]", name_of(latent.tensor.type), latent.shape.channels, latent.shape.frames,
                     latent.shape.height, latent.shape.width);
}

// Leaves out latents that differ from most in anything but the number of frames. Also leaves out latents whose number
// of frames differs from most of their video.
void drop_unusual_latents(LatentSet& set) {
  const auto kind = [](const LatentFile& latent) {
    return std::tuple(latent.shape.channels, latent.shape.height, latent.shape.width, latent.tensor.type.code,
                      latent.tensor.type.bits);
  };
  using Kind = decltype(kind(LatentFile{}));
  const auto usual = find_most_common<Kind>(set.files, 0, set.files.size(), kind);
  const auto like = *std::find_if(set.files.begin(), set.files.end(), [&](const auto& l) { return kind(l) == usual; });
  std::vector<LatentFile> same;
  for (LatentFile& latent : set.files) {
    if (kind(latent) == usual) {
      same.push_back(std::move(latent));
    } else {
      set.unusable.push_back(make_error(
          latent.file.path, fmt::format("it is {}, but most latents are {}: only the number of frames may differ",
                                        describe_tensor(latent), describe_tensor(like))));
    }
  }
  set.files.clear();
  for (std::size_t begin = 0; begin < same.size();) {
    std::size_t end = begin;
    while (end < same.size() && same[end].video == same[begin].video) ++end;
    const int frames =
        find_most_common<int>(same, begin, end, [](const LatentFile& latent) { return latent.shape.frames; });
    for (std::size_t i = begin; i < end; ++i) {
      if (same[i].shape.frames == frames) {
        set.files.push_back(std::move(same[i]));
      } else {
        set.unusable.push_back(make_error(
            same[i].file.path,
            fmt::format("it has {} frames, but most latents of its video have {}", same[i].shape.frames, frames)));
      }
    }
    begin = end;
  }
  // Videos without latents are removed.
  std::vector<LatentVideo> left;
  std::size_t last = set.videos.size();
  for (LatentFile& latent : set.files) {
    if (latent.video != last) {
      last = latent.video;
      left.push_back(set.videos[last]);
    }
    latent.video = left.size() - 1;
  }
  set.videos = std::move(left);
}

}  // namespace

std::size_t LatentSet::groups() const {
  std::size_t out = 0;
  for (std::size_t i = 0; i < videos.size(); ++i) out += i == 0 || videos[i].group != videos[i - 1].group ? 1 : 0;
  return out;
}

std::vector<std::uint32_t> LatentSet::group_numbers() const {
  std::vector<std::uint32_t> out;
  for (std::size_t v = 0; v < videos.size(); ++v)
    out.push_back(v == 0 ? 0 : out.back() + (videos[v].group != videos[v - 1].group ? 1 : 0));
  return out;
}

LatentShape LatentSet::max_shape() const {
  LatentShape out = files.front().shape;
  for (const LatentFile& latent : files) out.frames = std::max(out.frames, latent.shape.frames);
  return out;
}

LatentShape LatentSet::usual_shape() const {
  LatentShape out = files.front().shape;
  out.frames =
      find_most_common<int>(files, 0, files.size(), [](const LatentFile& latent) { return latent.shape.frames; });
  return out;
}

std::vector<long long> LatentSet::steps() const {
  std::set<long long> out;
  for (const LatentFile& latent : files) out.insert(latent.step);
  return {out.begin(), out.end()};
}

std::size_t LatentSet::count_without_metadata() const {
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](const LatentFile& latent) { return !latent.has_metadata; }));
}

std::uint64_t LatentSet::bytes() const {
  std::uint64_t out = 0;
  for (const LatentFile& latent : files) out += latent.bytes();
  return out;
}

std::string LatentSet::digest() const {
  std::string all;
  for (const LatentFile& latent : files) {
    const LatentVideo& video = videos[latent.video];
    all += fmt::format("{}/{}/{} {} {} {} {:x}\n", video.group, video.name, latent.step, latent.file.size,
                       latent.file.mtime_ns, latent.sigma, latent.ends_hash);
  }
  return fmt::format("{:016x}", short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()}));
}

LatentSet find_latents(const LatentsJobOptions& options, RunContext& context) {
  NamedLatents named = list_latent_files(options, context);
  LatentSet out;
  out.unusable = std::move(named.unusable);
  out.warnings = std::move(named.warnings);
  std::vector<LatentFile> files(named.latents.size());
  std::vector<std::optional<Error>> errors(files.size());
  const bool needs_sigma = options.normalize == Normalize::snr;
  context.executor.parallel_for(files.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && !context.cancel.cancelled(); ++i) {
      files[i].file = std::move(named.latents[i].file);
      files[i].step = named.latents[i].step;
      if (const auto described = read_latent_header(options, named.latents[i].format, files[i],
                                                    [&] { return context.cancel.cancelled(); });
          !described.ok()) {
        errors[i] = described.error();
        continue;
      }
      files[i].ends_hash = hash_file_ends(files[i].file.path, files[i].file.size);
      if (needs_sigma) {
        named.latents[i].file.path = files[i].file.path;
        if (const auto sigma = read_sigma(named.latents[i])) {
          files[i].sigma = *sigma;
        } else {
          errors[i] = sigma.error();
        }
      }
    }
  });
  context.throw_if_cancelled();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (errors[i]) {
      out.unusable.push_back(*errors[i]);
      continue;
    }
    const NamedLatent& name = named.latents[i];
    if (out.videos.empty() || out.videos.back().group != name.group || out.videos.back().name != name.video)
      out.videos.push_back({name.group, name.video});
    files[i].video = out.videos.size() - 1;
    files[i].has_metadata = !name.metadata.empty();
    out.files.push_back(std::move(files[i]));
  }
  if (out.files.empty()) {
    const std::string reason = !out.unusable.empty()   ? ": " + out.unusable.front().message()
                               : !out.warnings.empty() ? ": " + out.warnings.front()
                                                       : "";
    throw Failure(ErrorCode::not_found, "no latents were found" + reason, escape_unprintable(options.inputs.at(0)),
                  "expected GROUP/VIDEO/step_000.npy, .npy.gz, .pt, .pt.gz, .npz or .safetensors in it; check --groups "
                  "and --steps");
  }
  drop_unusual_latents(out);
  // Image models write [1, C, H, W], which looks the same as a video with one channel. The user gets a warning.
  if (const LatentShape& shape = out.files.front().shape;
      shape.channels == 1 && shape.frames <= 16 && shape.frames > 1) {
    out.warnings.push_back(
        fmt::format("latents are [1, {}, {}, {}], read as 1 channel and {} frames; if they are images with {} "
                    "channels, use --layout BCHW",
                    shape.frames, shape.height, shape.width, shape.frames, shape.frames));
  }
  constexpr std::size_t kMaxVideos = 65'535;  // src/kernels/statistics/statistics.h
  if (out.videos.size() > kMaxVideos) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("too many videos: {}; the limit is {}", group_digits(out.videos.size()), group_digits(kMaxVideos)),
        escape_unprintable(options.inputs.at(0)), "select fewer groups with --groups");
  }
  return out;
}

}  // namespace millrace::latents
