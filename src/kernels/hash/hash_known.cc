#include "src/kernels/hash/hash_known.h"

#include <algorithm>

#include "src/kernels/hash/hash_device.h"
#include "src/kernels/known/inputs.h"

namespace millrace::hashes {

void MadePictures::add(int width, int height, int channels, std::uint64_t seed, int gap) {
  // The picture is generated no smaller than its rectangles are, and then cropped.
  constexpr int kLeast = 32;
  const int made = std::max(width, kLeast);
  const std::vector<std::uint8_t> rgb = known::make_picture(made, std::max(height, kLeast), seed);
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

void MadePictures::add(int width, int height, int channels, std::vector<std::uint8_t> pixels) {
  all_.push_back({width, height, channels, std::ptrdiff_t{width} * channels, std::move(pixels)});
}

std::vector<DecodedPicture> MadePictures::pictures() const {
  std::vector<DecodedPicture> out;
  for (const One& one : all_) out.push_back({one.pixels.data(), one.width, one.height, one.stride, one.channels});
  return out;
}

namespace {

bool hashed_right(Accelerator& accelerator, const Executor& executor, const HashRequest& request,
                  const MadePictures& made) {
  Budget budget(256_MiB);
  const std::vector<DecodedPicture> pictures = made.pictures();
  DeviceHasher hasher(request, executor, accelerator, budget);
  const std::uint64_t batches = accelerator.counts().batches;
  const std::vector<PictureHashes> found = hasher.hash(pictures);
  if (accelerator.struck_out() || accelerator.counts().batches == batches) return false;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (!(found[i] == hashed_by_cpu(request, pictures[i]))) return false;
  }
  return accelerator.counts().fell_back == 0;
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  const Executor executor(1);
  MadePictures made;
  made.add(97, 61, 3, 1);
  made.add(40, 131, 1, 2, 5);
  made.add(64, 64, 3, 3);
  made.add(7, 3, 3, 4);
  return hashed_right(accelerator, executor, {{kHashKinds.begin(), kHashKinds.end()}, 8}, made) &&
         hashed_right(accelerator, executor, {{HashKind::phash, HashKind::whash, HashKind::dhash}, 16}, made);
}

bool agrees(Accelerator& accelerator, const Executor& executor, std::uint64_t round) {
  known::Random random = known::random_of(round);
  const int size = known::size_in(round);
  MadePictures made;
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
