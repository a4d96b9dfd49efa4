#include "src/kernels/hash/hash_device.h"

#include <algorithm>
#include <optional>

#include "src/device/batches.h"
#include "src/kernels/dct/dct.h"
#include "src/kernels/haar/haar.h"
#include "src/kernels/hash/colorhash.h"
#include "src/kernels/hash/hash_entries.h"
#include "src/kernels/hash/hash_memory.h"
#include "src/kernels/hash/hash_test_vectors.h"
#include "src/kernels/hash_quality/hash_quality.h"
#include "src/kernels/pdq/pdq_math.h"

namespace millrace::hashes {
namespace {

// Maximum bytes on the device at once: a hundred photographs, after which more of them make nothing faster.
constexpr std::uint64_t kMaxBytes = std::uint64_t{2} << 30;
// Maximum bytes of hashes that wait for a check.
constexpr std::uint64_t kMaxWaiting = std::uint64_t{64} << 20;

// A batch as the device hashed it.
struct Hashed {
  std::uint64_t begin = 0;
  std::vector<PictureHashes> hashes;
};

std::uint64_t bytes_of(const Hashed& part) {
  std::uint64_t bytes = 0;
  for (const PictureHashes& one : part.hashes) {
    bytes += sizeof(PictureHashes);
    for (const HashBits& bits : one.bits) bytes += sizeof(HashBits) + bits.size();
  }
  return bytes;
}

PdqHash pdq_of(const BatchNumbers& numbers, std::uint64_t which) {
  std::array<float, HASH_LOW> low;
  std::copy_n(numbers.frequencies.begin() + static_cast<std::ptrdiff_t>(which * HASH_LOW), low.size(), low.begin());
  return pdq::hash_of_low(low, static_cast<int>(numbers.gradients[which]));
}

// Returns a picture's hashes from the device's numbers. A whash is empty where these numbers do not decide it.
PictureHashes finished(const HashRequest& request, const DecodedPicture& picture, const PicturePlacement& placed,
                       const BatchNumbers& numbers) {
  const int n = request.size;
  const auto area = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto small = [&](ResizeTarget target) { return numbers.small.data() + placed.reduced.at(target); };
  PictureHashes out;
  if (std::find(request.kinds.begin(), request.kinds.end(), HashKind::pdq) == request.kinds.end()) {
    out.quality = gradient_quality(small({kQualitySide, kQualitySide}));
  }
  for (const HashKind kind : request.kinds) {
    HashBits& bits = out.bits.emplace_back();
    const auto target = target_of(kind, n, picture.width, picture.height);
    switch (kind) {
      case HashKind::ahash:
        bits = ahash_of(small(*target), n);
        break;
      case HashKind::dhash:
        bits = dhash_of(small(*target), n);
        break;
      case HashKind::dhash_vertical:
        bits = dhash_vertical_of(small(*target), n);
        break;
      case HashKind::phash: {
        std::vector<double> low(area);
        for (std::size_t i = 0; i < area; ++i) low[i] = dct_without_noise(numbers.low[placed.at.low + i]);
        bits = phash_bits(low);
        break;
      }
      case HashKind::whash:
        bits = haar_bits_of_sums(std::span(numbers.sums).subspan(placed.at.sums, area)).value_or(HashBits{});
        break;
      case HashKind::colorhash:
        bits = ColorCounter::of(picture.pixels(), std::span<const std::uint32_t, HASH_COUNTERS>(
                                                      numbers.counters.data() + placed.at.counters, HASH_COUNTERS))
                   .bits();
        break;
      case HashKind::pdq: {
        const PdqHash hash = placed.filtered ? pdq_of(numbers, placed.at.filtered) : PdqHash{};
        out.quality = hash.quality;
        bits = pdq_bits(hash);
        break;
      }
    }
  }
  return out;
}

}  // namespace

PictureHashes hash_on_cpu(const HashRequest& request, const DecodedPicture& picture) {
  PictureHasher hasher(request, picture.width, picture.height);
  hasher.push(picture.data, picture.stride, picture.height, picture.channels);
  return hasher.finish();
}

struct DeviceHasher::State {
  std::vector<PictureHashes> hash(std::span<const DecodedPicture> all);
  Hashed on_device(std::uint64_t begin, std::uint64_t end);
  void stop_if_cancelled() const {
    if (executor.cancelled()) throw Failure(interrupted("the pictures were not hashed"));
  }
  // Decides the whashes of a batch that sums of whole numbers leave open, from the squares that the device made.
  void decide_ties(const HashBatch& batch, Hashed& part);
  bool same(const Hashed& part);
  // Hashes these pictures on the CPU and calls keep(index in `which`, hashes).
  template <typename Keep>
  void by_cpu(const std::vector<std::uint64_t>& which, const Keep& keep);

  const HashRequest request;
  const Executor& executor;
  Accelerator& accelerator;
  Budget& budget;
  std::optional<BatchMemory> memory;
  std::span<const DecodedPicture> pictures;  // pictures of this call
};

DeviceHasher::DeviceHasher(const HashRequest& request, const Executor& executor, Accelerator& accelerator,
                           Budget& budget)
    : state_(new State{request, executor, accelerator, budget, {}, {}}) {
  check(request);
}
DeviceHasher::~DeviceHasher() = default;

std::vector<PictureHashes> DeviceHasher::hash(std::span<const DecodedPicture> pictures) {
  return state_->hash(pictures);
}

std::vector<PictureHashes> DeviceHasher::State::hash(std::span<const DecodedPicture> all) {
  pictures = all;
  std::vector<PictureHashes> out(pictures.size());
  const auto keep_by_cpu = [&](std::uint64_t begin, std::uint64_t end) {
    // Memory that was held for the device is freed for the CPU.
    if (accelerator.is_excluded()) memory.reset();
    std::vector<std::uint64_t> which;
    for (std::uint64_t i = begin; i < end; ++i) which.push_back(i);
    by_cpu(which, [&](std::size_t at, PictureHashes hashes) { out[begin + at] = std::move(hashes); });
  };
  if (pictures.empty()) return out;
  if (!accelerator.prepare_kernels(bodies::hash(), kEntries, gives_known_answers)) {
    keep_by_cpu(0, pictures.size());
    return out;
  }
  BatchedWork<Hashed> work;
  work.items = pictures.size();
  const std::uint64_t held = memory ? memory->held() : 0;
  work.most = std::clamp<std::uint64_t>((accelerator.free_memory().count + held) / 2, 1, kMaxBytes);
  work.checked = work.most;  // a check compares only some of its pictures
  work.sampled = true;
  work.cut = [this](std::uint64_t begin, std::uint64_t amount) {
    std::uint64_t end = begin;
    for (std::uint64_t bytes = 0; end < pictures.size(); ++end) {
      bytes += batch_array_sizes_of(request, pictures[end]).bytes();
      if (bytes > amount && end > begin) break;
    }
    return end;
  };
  work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
  // Pictures that are compared are hashed only in same().
  work.on_cpu = [](std::uint64_t begin, std::uint64_t) { return Hashed{begin, {}}; };
  work.same = [this](Hashed& part, Hashed&) { return same(part); };
  work.keep = [&](Hashed part) {
    std::move(part.hashes.begin(), part.hashes.end(), out.begin() + static_cast<std::ptrdiff_t>(part.begin));
  };
  work.keep_by_cpu = keep_by_cpu;
  work.weight = bytes_of;
  work.max_waiting = kMaxWaiting;
  run_batches(accelerator, work);
  stop_if_cancelled();
  return out;
}

Hashed DeviceHasher::State::on_device(std::uint64_t begin, std::uint64_t end) {
  stop_if_cancelled();
  const auto of = pictures.subspan(begin, end - begin);
  BatchArraySizes room;
  for (const DecodedPicture& picture : of) room += batch_array_sizes_of(request, picture);
  const Reservation reservation =
      budget.reserve({HashBatch::bytes(room, of.size()) + BatchNumbers::bytes(room)}, "hashes in flight");
  const HashBatch batch(request, of);
  if (!memory) memory.emplace(request, accelerator);
  const BatchNumbers numbers = memory->run(batch, of, executor);
  Hashed out{begin, std::vector<PictureHashes>(of.size())};
  executor.parallel_for(of.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) out.hashes[i] = finished(request, of[i], batch.placed[i], numbers);
  });
  decide_ties(batch, out);
  // A part of the batch may be missing after a cancellation.
  stop_if_cancelled();
  return out;
}

void DeviceHasher::State::decide_ties(const HashBatch& batch, Hashed& part) {
  struct Tie {
    std::size_t picture, kind;
    int side;
    std::vector<std::uint8_t> square;

    std::uint64_t area() const { return static_cast<std::uint64_t>(side) * static_cast<std::uint64_t>(side); }
  };
  std::vector<Tie> ties;
  for (std::size_t i = 0; i < part.hashes.size() && !executor.cancelled(); ++i) {
    const DecodedPicture& picture = pictures[part.begin + i];
    for (std::size_t k = 0; k < request.kinds.size(); ++k) {
      if (request.kinds[k] != HashKind::whash || !part.hashes[i].bits[k].empty()) continue;
      ties.push_back({i, k, whash_side(picture.width, picture.height, request.size), {}});
    }
  }
  // Handles as many ties at a time as there are threads.
  const auto step = static_cast<std::size_t>(executor.threads());
  for (std::size_t from = 0; from < ties.size(); from += step) {
    const auto some = std::span(ties).subspan(from, std::min(step, ties.size() - from));
    Bytes bytes;
    for (const Tie& tie : some) bytes += {tie.area() + haar_workspace(tie.side, request.size).count};
    const Reservation reservation = budget.reserve(bytes, "reduced pictures");
    for (Tie& tie : some) {
      tie.square.resize(tie.area());
      memory->download(batch.placed[tie.picture].reduced.at({tie.side, tie.side}), tie.square);
    }
    executor.parallel_for(some.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (Tie& tie : some.subspan(begin, end - begin)) {
        part.hashes[tie.picture].bits[tie.kind] = haar_bits_reference(tie.square.data(), tie.side, request.size);
        tie.square = {};
      }
    });
  }
}

bool DeviceHasher::State::same(const Hashed& part) {
  const std::vector<std::uint64_t> asked =
      select_compared_items(part.begin, part.hashes.size(), accelerator.options().verify);
  std::vector<std::uint8_t> right(asked.size(), 0);
  by_cpu(asked,
         [&](std::size_t at, const PictureHashes& truth) { right[at] = part.hashes[asked[at] - part.begin] == truth; });
  // A comparison that was cancelled is incomplete: it accuses no device, and no hash of the batch is returned.
  stop_if_cancelled();
  return std::find(right.begin(), right.end(), 0) == right.end();
}

template <typename Keep>
void DeviceHasher::State::by_cpu(const std::vector<std::uint64_t>& which, const Keep& keep) {
  Workspace most;
  for (const std::uint64_t i : which) {
    const Workspace one = PictureHasher::workspace(request, pictures[i].width, pictures[i].height);
    if (most.host < one.host) most = one;
  }
  // Number of pictures at a time: one per thread, or as many as memory allows.
  auto step = std::min<std::size_t>(which.size(), static_cast<std::size_t>(executor.threads()));
  Reservation reservation;
  for (bool fits = false; !fits;) {
    try {
      reservation = budget.reserve(most.host * step, "pictures hashed on the CPU");
      fits = true;
    } catch (const OutOfMemory&) {
      if (step > 1) {
        step /= 2;
      } else if (memory) {
        memory.reset();  // the host memory that it holds may be what is missing; the next batch makes it anew
      } else {
        throw;
      }
    }
  }
  for (std::size_t from = 0; from < which.size(); from += step) {
    executor.parallel_for(std::min(step, which.size() - from), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = from + begin; at < from + end; ++at) keep(at, hash_on_cpu(request, pictures[which[at]]));
    });
  }
}

}  // namespace millrace::hashes
