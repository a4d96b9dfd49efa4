// Input: codes on two sides.
// Output: their pairs, all codes compared on a device, a chunk of either side at a time where not all fit.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/hamming/hamming_device_join.h"

namespace millrace::hamming {

template <typename Code>
class DeviceBruteForce : public DeviceJoin<Code> {
  using Base = DeviceJoin<Code>;

 public:
  using Base::Base;

  bool run() {
    const std::uint64_t a = this->sides_.a.size(), b = this->sides_.b.size();
    if (a == 0 || b == 0) return true;
    if (!this->can_allocate([&] { make_room(std::max(a, b)); })) return false;
    for (std::uint64_t from = 0; from < a; from += chunk_) {
      for (std::uint64_t to = this->sides_.self ? from : 0; to < b; to += chunk_) {
        blocks_.push_back({from, std::min(from + chunk_, a), to, std::min(to + chunk_, b), items_});
        items_ += blocks_.back().a_end - from;
      }
    }
    BatchedWork<FoundPairs> work;
    work.items = items_;
    work.most = kMaxPairs;
    work.checked = kCheckedPairs;
    work.cut = [this](std::uint64_t begin, std::uint64_t amount) {
      const Block& block = block_of(begin);
      const std::uint64_t rows = std::max<std::uint64_t>(1, amount / (block.b_end - block.b_begin));
      return std::min(begin + rows, block.items + block.a_end - block.a_begin);
    };
    work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
    Base::run(work, [this](std::uint64_t begin, std::uint64_t end, PairTaker& taker) {
      const Block& block = block_of(begin);
      const std::uint64_t from = block.a_begin + (begin - block.items), to = from + (end - begin);
      this->by_cpu(0, {from, to, block.b_begin, block.b_end}, false, taker);
    });
    return true;
  }

 private:
  // Rows of side a that are compared with rows of side b; its rows of side a are items from `items` on.
  struct Block {
    std::uint64_t a_begin, a_end, b_begin, b_end, items;
  };

  static constexpr const KernelEntry& entry() { return sizeof(Code) == 8 ? kBrute64 : kBrute256; }
  static constexpr std::uint64_t kMinRows = 1 << 12;
  // Number of codes of side b that one block passes.
  static constexpr std::uint32_t kSpan = 1 << 11;
  // Number of rows of side a that one block of threads holds.
  static constexpr std::uint64_t kTile = sizeof(Code) == 8 ? 1024 : 256;

  const Block& block_of(std::uint64_t item) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), item,
                                        [](std::uint64_t value, const Block& block) { return value < block.items; });
    return *std::prev(after);
  }

  // Allocates buffers for chunks of both sides; throws OutOfMemory where not even small ones fit.
  void make_room(std::uint64_t rows) {
    // Rows are counted in 32 bits, with room for indices behind the last.
    for (chunk_ = std::min(rows, std::uint64_t{1} << 31);; chunk_ = (chunk_ + 1) / 2) {
      try {
        hits_.reset();
        a_.release();
        b_.release();
        hits_.emplace(this->accelerator_, room_for_hits(this->accelerator_));
        a_ = DeviceBuffer<std::uint32_t>(this->accelerator_, chunk_ * kWords32<Code>, "codes");
        if (chunk_ < rows || !this->sides_.self) {
          b_ = DeviceBuffer<std::uint32_t>(this->accelerator_, chunk_ * kWords32<Code>, "codes");
        }
        return;
      } catch (const OutOfMemory&) {
        if (chunk_ <= kMinRows) throw;
      }
    }
  }

  void load(DeviceBuffer<std::uint32_t>& to, std::span<const Code> codes, std::uint64_t begin, std::uint64_t end,
            std::uint64_t& loaded) {
    if (loaded == begin) return;
    loaded = UINT64_MAX;
    this->queue_->upload(words_of(codes.subspan(begin, end - begin)), to);
    loaded = begin;
  }

  FoundPairs on_device(std::uint64_t begin, std::uint64_t end) {
    throw_if_cancelled(this->executor_);
    const Block& block = block_of(begin);
    const bool one = this->sides_.self && block.a_begin == block.b_begin;
    load(a_, this->sides_.a, block.a_begin, block.a_end, a_loaded_);
    if (!one) load(b_, this->sides_.b, block.b_begin, block.b_end, b_loaded_);
    const auto from = static_cast<std::uint32_t>(begin - block.items),
               to = static_cast<std::uint32_t>(end - block.items);
    const auto b_rows = static_cast<std::uint32_t>(block.b_end - block.b_begin);
    // Codes before the first row of side a belong to other batches.
    const std::uint32_t b_from = one ? from : 0;
    const std::uint64_t blocks = (to - from + kTile - 1) / kTile * ((b_rows - b_from + kSpan - 1) / kSpan);
    hits_->empty(*this->queue_);
    this->queue_->launch(bodies::hamming(), entry(), blocks, a_, one ? a_ : b_, from, to, b_from, b_rows, kSpan,
                         std::uint32_t{one}, this->radius(), hits_->hits(), hits_->capacity(), hits_->count());
    FoundPairs found = hits_->take(*this->queue_, this->budget_, blocks);
    for (HammingPair& pair : found.list) {
      if (pair.i < from || pair.i >= to || pair.j >= b_rows) {
        throw Failure(ErrorCode::internal, "it found a pair of other rows than it was asked for");
      }
      pair.i += static_cast<std::uint32_t>(block.a_begin);
      pair.j += static_cast<std::uint32_t>(block.b_begin);
    }
    this->confirm(found.list);
    return found;
  }

  std::uint64_t chunk_ = 0, items_ = 0;
  std::vector<Block> blocks_;
  DeviceBuffer<std::uint32_t> a_, b_;
  std::uint64_t a_loaded_ = UINT64_MAX, b_loaded_ = UINT64_MAX;
  std::optional<HitBuffer> hits_;
};

}  // namespace millrace::hamming
