#include "src/jobs/dedupe/match/whole_picture_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

namespace millrace::dedupe {
namespace {

constexpr std::size_t kKeys = std::size_t{1} << crops::kKeyBits;

// Each key has eight cells by aspect ratio (16 log2 of width / height). A cell is 8 wide, like the range of ratios that
// match one ratio. A portrait of 2:3 is 9 from a square. The outermost cells also hold all longer ratios.
// docs/design/crops.md gives the reasons for the constants of this file.
constexpr int kCells = 8;
std::size_t cell_of(crops::CropCode key, int sides) {
  return static_cast<std::size_t>(key) * kCells + static_cast<std::size_t>((std::clamp(sides, -32, 31) + 32) / kCells);
}

// Visits the whole's key with every choice of its doubtful signs.
template <class Visit>
void for_each_key(const crops::CropCodes& codes, const Visit& visit) {
  const crops::CropCode doubtful = codes.doubtful, fixed = codes.whole & crops::kKey & ~doubtful;
  crops::CropCode some = 0;
  do {
    visit(fixed | some);
    some = (some - doubtful) & doubtful;  // next subset of the doubtful signs
  } while (some != 0);
}

bool has_valid_signs(const crops::CropCodes& codes) {
  return codes.whole != crops::kSilent && std::popcount(codes.doubtful) == crops::kDoubtful;
}

}  // namespace

WholePictureTable::WholePictureTable(std::span<const crops::CropCodes> codes, const Executor& executor)
    : occupied_keys_(kKeys / 64, 0), begins_(kKeys * kCells + 2, 0), sides_(codes.size()) {
  // Each share fills the keys of one range of the table. Random memory access dominates the cost, so every share
  // computes all keys anew.
  constexpr std::size_t kKeyRanges = 8, kKeysPerRange = kKeys / kKeyRanges;
  const auto each_row_and_key = [&](const auto& visit) {
    executor.parallel_for(kKeyRanges, 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t row = 0; row < codes.size(); ++row) {
        if (!has_valid_signs(codes[row])) continue;
        for_each_key(codes[row], [&](crops::CropCode key) {
          if (const std::size_t range = key / kKeysPerRange; range >= from && range < to) visit(row, key);
        });
      }
    });
  };
  for (std::size_t row = 0; row < codes.size(); ++row) sides_[row] = codes[row].sides;
  // First counts the entries, then places them. While placing, the start of each cell moves to its end, which is the
  // start of the next.
  each_row_and_key([&](std::size_t row, crops::CropCode key) {
    ++begins_[cell_of(key, codes[row].sides) + 2];
    occupied_keys_[key / 64] |= std::uint64_t{1} << key % 64;
  });
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  const std::size_t count = begins_.back();
  rows_ = std::make_unique_for_overwrite<std::uint32_t[]>(count);
  codes_ = std::make_unique_for_overwrite<crops::CropCode[]>(count + crops::kReadBeyond);
  std::fill_n(codes_.get() + count, crops::kReadBeyond, crops::kSilent);
  each_row_and_key([&](std::size_t row, crops::CropCode key) {
    const std::uint32_t at = begins_[cell_of(key, codes[row].sides) + 1]++;
    codes_[at] = codes[row].whole;
    rows_[at] = static_cast<std::uint32_t>(row);
  });
  begins_.pop_back();
}

std::uint64_t WholePictureTable::memory(std::size_t rows) {
  return kKeys / 8 + sizeof(std::uint32_t) * (kKeys * kCells + 2) +
         (sizeof(crops::CropCode) + sizeof(std::uint32_t)) * rows * (std::size_t{1} << crops::kDoubtful);
}

struct WholePictureTable::Scratch {
  std::vector<crops::CodeRun> runs;
  std::vector<std::uint32_t> part_of_run;
  std::vector<crops::CodeMatch> near;
};

void WholePictureTable::find_row_pairs(const crops::CropCodes& codes, std::uint32_t row, Scratch& scratch,
                                       std::vector<CropWholePair>& out) const {
  auto& [runs, part_of_run, near] = scratch;
  runs.clear();
  part_of_run.clear();
  near.clear();
  // Lookups hit random places of many megabytes, so they are prefetched long before use.
  for (std::size_t p = 0; p < crops::kCropCount; ++p) {
    const crops::CropCode code = codes.parts[p], key = code & crops::kKey;
    if (code == crops::kSilent || (occupied_keys_[key / 64] >> key % 64 & 1) == 0) continue;
    const int sides = codes.sides_of(p);
    const std::size_t first = cell_of(key, sides - crops::kMaxSides), last = cell_of(key, sides + crops::kMaxSides);
    __builtin_prefetch(&begins_[first]);
    runs.push_back({code, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last + 1)});
    part_of_run.push_back(static_cast<std::uint32_t>(p));
  }
  for (crops::CodeRun& run : runs) {
    run.begin = begins_[run.begin];
    run.end = begins_[run.end];
    if (run.begin < run.end) __builtin_prefetch(&codes_[run.begin]);
  }
  crops::find_matches(runs, codes_.get(), near);
  const std::size_t before = out.size();
  for (const crops::CodeMatch& n : near) {
    const std::uint32_t whole = rows_[n.place];
    if (std::abs(codes.sides_of(part_of_run[n.run]) - sides_[whole]) <= crops::kMaxSides) out.push_back({row, whole});
  }
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(first, out.end());
  out.erase(std::unique(first, out.end()), out.end());
}

std::vector<CropWholePair> WholePictureTable::find_pairs(std::span<const crops::CropCodes> codes,
                                                         const Executor& executor) const {
  constexpr std::size_t kAtOnce = 1024;
  if (begins_.back() == 0) return {};
  std::vector<std::vector<CropWholePair>> found((codes.size() + kAtOnce - 1) / kAtOnce);
  executor.parallel_for(found.size(), 1, [&](std::size_t from, std::size_t to) {
    Scratch scratch;
    for (std::size_t lot = from; lot < to; ++lot) {
      for (std::size_t row = lot * kAtOnce; row < std::min(codes.size(), (lot + 1) * kAtOnce); ++row)
        find_row_pairs(codes[row], static_cast<std::uint32_t>(row), scratch, found[lot]);
    }
  });
  std::size_t all = 0;
  for (const auto& lot : found) all += lot.size();
  std::vector<CropWholePair> out;
  out.reserve(all);
  for (const auto& lot : found) out.insert(out.end(), lot.begin(), lot.end());
  return out;
}

}  // namespace millrace::dedupe
