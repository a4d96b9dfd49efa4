#include "src/jobs/latents/read.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/at_offset.h"
#include "src/io/file/place.h"

namespace millrace::latents {
namespace {

void read_file(const LatentFile& latent, Buffer<std::byte>& out) {
  const std::string name = printable(latent.file.path);
  const Descriptor file(::open(latent.file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw Failure(system_error("it cannot be opened", name, errno));
  const auto state = state_of_descriptor(file.get());
  if (!state || state->size != latent.file.size || state->mtime_ns != latent.file.mtime_ns) {
    throw Failure(ErrorCode::conflict, "it has changed while this run was at work", name,
                  "run the same command again when it is no longer written");
  }
  out.resize(latent.bytes());
  if (read_at(file.get(), latent.offset, out.span()) != latent.bytes()) {
    throw Failure(ErrorCode::conflict, "it was cut short while it was read", name,
                  "run the same command again when it is no longer written");
  }
}

}  // namespace

ArrayView LatentReader::read(const LatentFile& latent) {
  read_file(latent, raw_);
  const Shape& shape = latent.shape;
  ElementType type = latent.type;
  if (type == kFloat64) {
    turned_.resize(shape.elements() * sizeof(float));
    const auto* const from = reinterpret_cast<const double*>(raw_.data());
    std::transform(from, from + shape.elements(), reinterpret_cast<float*>(turned_.data()),
                   [](double value) { return static_cast<float>(value); });
    std::swap(raw_, turned_);
    type = kFloat32;
  }
  if (latent.layout == Layout::fchw) {
    const std::size_t plane = shape.pixels() * type.bytes();
    const auto channels = static_cast<std::size_t>(shape.channels), frames = static_cast<std::size_t>(shape.frames);
    turned_.resize(shape.elements() * type.bytes());
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t f = 0; f < frames; ++f)
        std::memcpy(turned_.data() + (c * frames + f) * plane, raw_.data() + (f * channels + c) * plane, plane);
    std::swap(raw_, turned_);
  }
  return {raw_.data(), type, {shape.channels, shape.frames, shape.height, shape.width}, {}, MemoryKind::host, 0};
}

std::uint64_t LatentReader::bytes(const LatentFile& latent) {
  const bool turned = latent.type == kFloat64 || latent.layout == Layout::fchw;
  return latent.bytes() * (turned ? 2 : 1);
}

}  // namespace millrace::latents
