// Input: codes on two sides, and the parts of an index.
// Output: the codes ordered by each part's bits on a device, and the pairs in neighbouring buckets, found there.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/hamming/hamming_device_join.h"

namespace millrace::hamming {

template <typename Code>
class DeviceIndex : public DeviceJoin<Code> {
  using Base = DeviceJoin<Code>;

 public:
  using Base::Base;

  bool run() {
    if (this->sides_.a.empty() || this->sides_.b.empty()) return true;
    if (!this->can_allocate([&] { make_room(); })) return false;
    // Items are the buckets of all parts.
    firsts_ = {0};
    std::uint64_t widest = 0;
    for (const IndexPart& part : this->plan_.parts) {
      firsts_.push_back(firsts_.back() + (std::uint64_t{1} << part.width));
      widest = std::max(widest, std::uint64_t{1} << part.width);
    }
    BatchedWork<FoundPairs> work;
    work.items = firsts_.back();
    // A batch is a sixteenth of a part, but for few codes all of it.
    const std::uint64_t codes = this->sides_.a.size();
    work.most = std::max<std::uint64_t>({1, widest / 16, widest * kFewCodes / codes});
    work.checked = std::max<std::uint64_t>({1, widest / 1024, widest * kFewCodes / 64 / codes});
    work.cut = [this](std::uint64_t begin, std::uint64_t amount) {
      return std::min(begin + amount, firsts_[part_of(begin) + 1]);
    };
    work.on_device = [this](std::uint64_t begin, std::uint64_t end) { return on_device(begin, end); };
    Base::run(work, [this](std::uint64_t begin, std::uint64_t end, PairTaker& taker) {
      const std::size_t part = part_of(begin);
      this->by_cpu(part, {begin - firsts_[part], end - firsts_[part], 0, 0}, true, taker);
    });
    return true;
  }

 private:
  static constexpr std::uint32_t kWords = kWords32<Code>;
  static constexpr std::uint64_t kFewCodes = 1 << 16;

  // Codes of one side on the device: in their own order, and in the order of a part.
  struct OneSide {
    DeviceBuffer<std::uint32_t> codes, ordered, ids, places, starts;
    std::vector<std::uint32_t> host_starts;
    bool loaded = false;
  };

  std::size_t part_of(std::uint64_t item) const {
    return static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), item) - firsts_.begin()) - 1;
  }

  void make_room() {
    // Rows are counted in 32 bits, with room for indices behind the last.
    if (std::max(this->sides_.a.size(), this->sides_.b.size()) > std::size_t{1} << 31) {
      throw OutOfMemory(ErrorCode::out_of_memory, "too many codes for an index", "the device");
    }
    std::size_t buckets = 0, flips = 0;
    for (const IndexPart& part : this->plan_.parts) {
      buckets = std::max(buckets, std::size_t{1} << part.width);
      flips = std::max(flips, list_part_flips(part, this->sides_.self).size());
    }
    Accelerator& device = this->accelerator_;
    starts_memory_ = this->budget_.reserve({4 * (buckets + 1) * (this->sides_.self ? 1 : 2)}, "buckets");
    const auto make = [&](OneSide& side, std::size_t rows) {
      side.codes = {device, rows * kWords, "codes"};
      side.ordered = {device, rows * kWords, "codes in bucket order"};
      side.ids = {device, rows, "rows in bucket order"};
      side.places = {device, buckets, "bucket positions"};
      side.starts = {device, buckets + 1, "buckets"};
    };
    make(a_, this->sides_.a.size());
    if (!this->sides_.self) make(b_, this->sides_.b.size());
    flips_ = {device, std::max<std::size_t>(1, flips), "neighboring buckets"};
    done_ = {device, 1, "finished blocks"};
    previous_words_ = {device, this->plan_.parts.size(), "previous index parts"};
    previous_masks_ = {device, this->plan_.parts.size(), "previous index parts"};
    previous_thresholds_ = {device, this->plan_.parts.size(), "previous index parts"};
    hits_.emplace(device, room_for_hits(device));
  }

  void order(OneSide& side, std::span<const Code> codes, const IndexPart& part) {
    Queue& queue = *this->queue_;
    const auto rows = static_cast<std::uint32_t>(codes.size());
    const std::uint64_t blocks = std::min<std::uint64_t>(4096, (codes.size() + 255) / 256);
    const std::size_t buckets = std::size_t{1} << part.width;
    const auto word = static_cast<std::uint32_t>(part.word), shift = static_cast<std::uint32_t>(part.shift),
               width = static_cast<std::uint32_t>(part.width);
    if (!side.loaded) queue.upload(words_of(codes), side.codes);
    side.loaded = true;
    queue.fill(side.places, 0);
    queue.fill(done_, 0);
    queue.launch(bodies::hamming(), kCount, blocks, side.codes, kWords, rows, word, shift, width, side.places, done_);
    // Sums some thousand or million buckets on the host: the transfers take longer.
    side.host_starts.assign(buckets + 1, 0);
    queue.download(side.places, std::span(side.host_starts).first(buckets));
    std::uint64_t sum = 0;
    for (std::uint32_t& start : side.host_starts) {
      const std::uint64_t before = sum;
      sum += start;
      start = static_cast<std::uint32_t>(std::min<std::uint64_t>(before, rows));
    }
    if (sum != rows) throw Failure(ErrorCode::internal, "it counted codes wrongly");
    queue.upload(std::span<const std::uint32_t>(side.host_starts), side.starts);
    queue.upload(std::span<const std::uint32_t>(side.host_starts).first(buckets), side.places);
    queue.launch(bodies::hamming(), kScatter, blocks, side.codes, kWords, rows, word, shift, width, side.places,
                 side.ordered, side.ids, done_);
    std::uint32_t done = 0;
    queue.download(done_, std::span(&done, 1));
    if (done != 2 * blocks) throw Failure(ErrorCode::internal, "it left out a part of its work");
  }

  void prepare(std::size_t p) {
    if (prepared_ == p) return;
    prepared_ = SIZE_MAX;
    const IndexPart& part = this->plan_.parts[p];
    order(a_, this->sides_.a, part);
    if (!this->sides_.self) order(b_, this->sides_.b, part);
    host_flips_ = list_part_flips(part, this->sides_.self);
    this->queue_->upload(std::span<const std::uint32_t>(host_flips_), flips_);
    std::vector<std::uint32_t> words, thresholds;
    std::vector<std::uint64_t> masks;
    for (std::size_t e = 0; e < p; ++e) {
      const IndexPart& previous = this->plan_.parts[e];
      words.push_back(static_cast<std::uint32_t>(previous.word));
      thresholds.push_back(static_cast<std::uint32_t>(previous.threshold));
      masks.push_back(previous.mask());
    }
    this->queue_->upload(std::span<const std::uint32_t>(words), previous_words_);
    this->queue_->upload(std::span<const std::uint64_t>(masks), previous_masks_);
    this->queue_->upload(std::span<const std::uint32_t>(thresholds), previous_thresholds_);
    prepared_ = p;
  }

  // Throws OutOfMemory where buckets have more pairs than the counter of hits can count.
  void throw_if_many(std::size_t begin, std::size_t end) const {
    const OneSide& b = this->sides_.self ? a_ : b_;
    const auto size = [](const OneSide& side, std::size_t bucket) {
      return std::uint64_t{side.host_starts[bucket + 1]} - side.host_starts[bucket];
    };
    std::uint64_t pairs = 0;
    for (std::size_t bucket = begin; bucket < end; ++bucket) {
      const std::uint64_t own = size(a_, bucket);
      if (own == 0) continue;
      std::uint64_t met = this->sides_.self ? own : 0;
      for (const std::uint32_t flip : host_flips_) met += size(b, bucket ^ flip);
      pairs += own * met;
      if (pairs > kMaxPairs) throw OutOfMemory(ErrorCode::out_of_memory, "too many pairs at once", "the device");
    }
  }

  FoundPairs on_device(std::uint64_t begin, std::uint64_t end) {
    throw_if_cancelled(this->executor_);
    const std::size_t p = part_of(begin);
    prepare(p);
    const IndexPart& part = this->plan_.parts[p];
    const bool self = this->sides_.self;
    const std::uint32_t from = a_.host_starts[begin - firsts_[p]], to = a_.host_starts[end - firsts_[p]];
    throw_if_many(static_cast<std::size_t>(begin - firsts_[p]), static_cast<std::size_t>(end - firsts_[p]));
    hits_->empty(*this->queue_);
    OneSide& b = self ? a_ : b_;
    const std::uint64_t blocks = (std::uint64_t{to} - from + 255) / 256;
    this->queue_->launch(bodies::hamming(), kIndex, blocks, a_.ordered, a_.ids, b.ordered, b.ids, b.starts, kWords,
                         from, to, static_cast<std::uint32_t>(part.word), static_cast<std::uint32_t>(part.shift),
                         static_cast<std::uint32_t>(part.width), flips_, static_cast<std::uint32_t>(host_flips_.size()),
                         previous_words_, previous_masks_, previous_thresholds_, static_cast<std::uint32_t>(p),
                         std::uint32_t{self}, this->radius(), hits_->hits(), hits_->capacity(), hits_->count());
    FoundPairs found = hits_->take(*this->queue_, this->budget_, blocks);
    this->confirm(found.list);
    return found;
  }

  std::vector<std::uint64_t> firsts_;  // first item of each part, and the number of items
  OneSide a_, b_;
  DeviceBuffer<std::uint32_t> flips_, done_, previous_words_, previous_thresholds_;
  DeviceBuffer<std::uint64_t> previous_masks_;
  std::vector<std::uint32_t> host_flips_;
  std::size_t prepared_ = SIZE_MAX;
  Reservation starts_memory_;  // memory of the host
  std::optional<HitBuffer> hits_;
};

}  // namespace millrace::hamming
