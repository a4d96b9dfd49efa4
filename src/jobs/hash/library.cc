// Implements include/millrace/hash.h with the same functions as the program.
#include <fmt/format.h>

#include "include/millrace/hash.h"
#include "src/device/cpu/executor.h"
#include "src/jobs/callers_image.h"
#include "src/kernels/hash/hash_device.h"

namespace millrace {
namespace {

HashRequest make_hash_request(const HashOptions& options) {
  HashRequest out;
  out.size = options.size;
  for (const std::string& name : options.kinds) {
    const auto kind = find_hash_kind(name);
    if (!kind) {
      std::vector<const char*> all;
      for (const HashKind one : kHashKinds) all.push_back(name_of(one));
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not a hash kind", name), "kinds",
                    fmt::format("use one or more of {}", fmt::join(all, ", ")));
    }
    out.kinds.push_back(*kind);
  }
  if (out.kinds.empty())
    throw Failure(ErrorCode::usage, "no hash kind was given", "kinds", "give at least one, such as dhash");
  check(out);
  return out;
}

// Writes the bits as one big-endian number, the first bit highest.
void write_bits(const HashBits& bits, std::uint8_t* out) {
  const std::size_t bytes = (bits.size() + 7) / 8, lead = 8 * bytes - bits.size();
  std::fill_n(out, bytes, std::uint8_t{0});
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t at = lead + i;
    out[at / 8] = static_cast<std::uint8_t>(out[at / 8] | (bits[i] != 0 ? 0x80U >> (at % 8) : 0U));
  }
}

}  // namespace

struct ImageHasher::State {
  explicit State(const HashOptions& options) : request(make_hash_request(options)), executor(options.threads) {
    // Measures the lengths of the codes on a black pixel: they do not depend on the image.
    const std::uint8_t black = 0;
    for (const HashBits& of : hashes::hash_on_cpu(request, {&black, 1, 1, 1, 1}).bits) bits.push_back(of.size());
  }
  const HashRequest request;
  const Executor executor;
  std::vector<std::size_t> bits;
};

ImageHasher::ImageHasher(const HashOptions& options) : state_(std::make_unique<State>(options)) {}
ImageHasher::~ImageHasher() = default;
ImageHasher::ImageHasher(ImageHasher&&) noexcept = default;
ImageHasher& ImageHasher::operator=(ImageHasher&&) noexcept = default;

std::size_t ImageHasher::kinds() const { return state_->bits.size(); }
std::size_t ImageHasher::bits(std::size_t kind) const { return state_->bits.at(kind); }

void ImageHasher::hash(std::span<const ArrayView> images, std::span<std::uint8_t* const> codes,
                       const CancelToken* cancel) const {
  if (codes.size() != kinds()) {
    throw Failure(ErrorCode::usage,
                  fmt::format("expected {} buffers, one for each hash kind; found {}", kinds(), codes.size()), "codes",
                  "");
  }
  check_images(images, "image");
  const Executor executor(state_->executor, cancel);
  executor.parallel_for(images.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const CallersImage image(images[i]);
      const PictureHashes made = hashes::hash_on_cpu(
          state_->request, {image.data(), image.width(), image.height(), image.stride(), image.channels()});
      for (std::size_t k = 0; k < codes.size(); ++k) write_bits(made.bits[k], codes[k] + i * bytes(k));
    }
  });
  executor.throw_if_cancelled("nothing was kept");
}

}  // namespace millrace
