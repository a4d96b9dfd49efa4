#include "src/kernels/hash/hash_test_vectors.h"

#include <algorithm>

#include "src/kernels/hash/hash_device.h"
#include "src/kernels/test_vectors/inputs.h"

namespace millrace::hashes {

void SyntheticPictures::add(int width, int height, int channels, std::uint64_t seed, int gap) {
  // The picture is generated no smaller than its rectangles are, and then cropped.
  constexpr int kMinWidth = 32;
  const int made = std::max(width, kMinWidth);
  const std::vector<std::uint8_t> rgb = test_vectors::make_picture(made, std::max(height, kMinWidth), seed);
  const auto row = static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  const auto rows = static_cast<std::size_t>(height);
  const std::size_t stride = row + static_cast<std::size_t>(gap);
  std::vector<std::uint8_t> pixels(stride * rows, 0xEE);
  for (std::size_t y = 0; y < rows; ++y) {
    const std::uint8_t* from = rgb.data() + 3 * y * static_cast<std::size_t>(made);
    for (std::size_t x = 0; x < row; ++x) pixels[y * stride + x] = from[channels == 3 ? x : 3 * x + 1];
  }
  all_.push_back({width, height, channels, static_cast<std::ptrdiff_t>(stride), std::move(pixels)});
}

void SyntheticPictures::add(int width, int height, int channels, std::vector<std::uint8_t> pixels) {
  all_.push_back({width, height, channels, std::ptrdiff_t{width} * channels, std::move(pixels)});
}

std::vector<DecodedPicture> SyntheticPictures::pictures() const {
  std::vector<DecodedPicture> out;
  for (const One& one : all_) out.push_back({one.pixels.data(), one.width, one.height, one.stride, one.channels});
  return out;
}

namespace {

bool hashed_right(Accelerator& accelerator, const Executor& executor, const HashRequest& request,
                  const SyntheticPictures& made) {
  Budget budget(256_MiB);
  const std::vector<DecodedPicture> pictures = made.pictures();
  DeviceHasher hasher(request, executor, accelerator, budget);
  const std::uint64_t batches = accelerator.counts().batches;
  const std::vector<PictureHashes> found = hasher.hash(pictures);
  if (accelerator.is_excluded() || accelerator.counts().batches == batches) return false;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (!(found[i] == hash_on_cpu(request, pictures[i]))) return false;
  }
  return accelerator.counts().fell_back == 0;
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  const Executor executor(1);
  SyntheticPictures made;
  made.add(97, 61, 3, 1);
  made.add(40, 131, 1, 2, 5);
  made.add(64, 64, 3, 3);
  made.add(7, 3, 3, 4);
  return hashed_right(accelerator, executor, {{kHashKinds.begin(), kHashKinds.end()}, 8}, made) &&
         hashed_right(accelerator, executor, {{HashKind::phash, HashKind::whash, HashKind::dhash}, 16}, made);
}

bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round) {
  test_vectors::Random random = test_vectors::make_random(round);
  const int size = test_vectors::round_size(round);
  SyntheticPictures made;
  for (int i = 0; i < 6; ++i) {
    const int width = 1 + random.below(60 * size), height = 1 + random.below(45 * size);
    const int channels = random.below(3) == 0 ? 1 : 3, gap = random.below(4);
    made.add(width, height, channels, random.next64(), gap);
  }
  const HashRequest every{{kHashKinds.begin(), kHashKinds.end()}, 8};
  // Wavelets need powers of two.
  HashRequest others{{}, 2 + random.below(31)};
  for (const HashKind kind : kHashKinds) {
    if (kind != HashKind::whash) others.kinds.push_back(kind);
  }
  return hashed_right(accelerator, executor, every, made) && hashed_right(accelerator, executor, others, made);
}

}  // namespace millrace::hashes
