#include "src/jobs/latents/latent_reader.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/directory_entry.h"

namespace millrace::latents {
namespace {

void read_file(tensor_file::TensorReader& reader, const LatentFile& latent, Buffer<std::byte>& out) {
  const std::string& path = latent.file.path;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw Failure(system_error("it cannot be opened", escape_unprintable(path), errno));
  const auto state = state_of_descriptor(file.get());
  if (!state || state->size != latent.file.size || state->mtime_ns != latent.file.mtime_ns) {
    throw Failure(ErrorCode::conflict, "it changed during this run", escape_unprintable(path),
                  "run the same command again when no program writes to it");
  }
  out.resize(latent.bytes());
  reader.read(file.get(), latent.file.size, path, latent.tensor, out.span()).or_throw();
}

// True if the file itself is damaged; false for errors of this machine and for files that a person changes.
bool is_damage(const Failure& failure) { return failure.error().code == ErrorCode::bad_data; }

bool is_widened(ElementType type) { return type == kFloat64 || type == kBfloat16; }

// Converts to float32. A bfloat16 is the upper half of a float32.
template <typename Number, typename Convert>
void convert_to_floats(const Buffer<std::byte>& from, std::size_t count, Buffer<std::byte>& to,
                       const Convert& convert) {
  to.resize(count * sizeof(float));
  const auto* const values = reinterpret_cast<const Number*>(from.data());
  std::transform(values, values + count, reinterpret_cast<float*>(to.data()), convert);
}

}  // namespace

ArrayView LatentReader::read(const LatentFile& latent) {
  try {
    read_file(file_, latent, raw_);
  } catch (const Failure& failure) {
    if (!is_damage(failure)) throw;
    // A value whose bits are all ones is NaN in every type.
    std::memset(raw_.data(), 0xFF, latent.bytes());
  }
  const LatentShape& shape = latent.shape;
  ElementType type = latent.tensor.type;
  if (is_widened(type)) {
    if (type == kFloat64) {
      convert_to_floats<double>(raw_, shape.elements(), converted_,
                                [](double value) { return static_cast<float>(value); });
    } else {
      convert_to_floats<std::uint16_t>(raw_, shape.elements(), converted_, [](std::uint16_t value) {
        return std::bit_cast<float>(std::uint32_t{value} << 16);
      });
    }
    std::swap(raw_, converted_);
    type = kFloat32;
  }
  if (latent.layout == AxisOrder::fchw) {
    const std::size_t plane = shape.pixels() * type.bytes();
    const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
    converted_.resize(shape.elements() * type.bytes());
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t f = 0; f < frames; ++f)
        std::memcpy(converted_.data() + (c * frames + f) * plane, raw_.data() + (f * channels + c) * plane, plane);
    std::swap(raw_, converted_);
  }
  ArrayView view{raw_.data(), type, {shape.channels, shape.frames, shape.height, shape.width}, {}, MemoryKind::host, 0};
  if (normalization_.method != Normalize::none) normalize(latent, view);
  return view;
}

void LatentReader::normalize(const LatentFile& latent, ArrayView& view) {
  std::vector<ChannelScaling> scalings;
  switch (normalization_.method) {
    case Normalize::none:
      return;
    case Normalize::channel:
      for (const ChannelMoments& moments : channel_moments(view, latent.shape)) {
        if (!std::isfinite(moments.squares)) return;
        scalings.push_back(make_standardization(moments));
      }
      break;
    case Normalize::step:
      if (const auto found = normalization_.by_step.find(latent.step); found != normalization_.by_step.end())
        scalings = found->second;
      if (scalings.empty()) return;
      break;
    case Normalize::snr:
      scalings.assign(static_cast<std::size_t>(latent.shape.channels),
                      {0, 1 / std::sqrt(1 + latent.sigma * latent.sigma)});
      break;
  }
  converted_.resize(latent.shape.elements() * sizeof(float));
  scale_channels(view, latent.shape, scalings, {reinterpret_cast<float*>(converted_.data()), latent.shape.elements()});
  std::swap(raw_, converted_);
  view.data = raw_.data();
  view.type = kFloat32;
}

std::uint64_t LatentReader::bytes(const LatentFile& latent, Normalize method) {
  std::uint64_t largest = latent.bytes();
  bool twice = latent.layout == AxisOrder::fchw;
  if (is_widened(latent.tensor.type) || method != Normalize::none) {
    largest = std::max<std::uint64_t>(largest, latent.shape.elements() * sizeof(float));
    twice = true;
  }
  return largest * (twice ? 2 : 1) + tensor_file::TensorReader::bytes(latent.tensor, latent.file.size);
}

std::optional<Error> find_damage(const LatentFile& latent) {
  tensor_file::TensorReader reader;
  Buffer<std::byte> values;
  try {
    read_file(reader, latent, values);
  } catch (const Failure& failure) {
    if (!is_damage(failure)) throw;
    return failure.error();
  }
  return std::nullopt;
}

std::uint64_t estimate_reading_memory(const LatentSet& set, Normalize method) {
  std::uint64_t out = 0;
  for (const LatentFile& latent : set.files) out = std::max(out, LatentReader::bytes(latent, method));
  return out;
}

}  // namespace millrace::latents
