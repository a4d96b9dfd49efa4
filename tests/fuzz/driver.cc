// Runs a fuzz target without a fuzzer: every seed as it is, then changed in ways that a number decides, so that each
// run is the same. fuzz_inputs TARGET SEEDS COUNT: a folder of files, and how many changed inputs are tried.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

// MILLRACE_TARGETS(DO): DO(card) DO(catalog) ..., which cmake/fuzz_inputs.cmake makes of the files that there are.
#include "fuzz_targets.h"

#define MILLRACE_DECLARE(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
MILLRACE_TARGETS(MILLRACE_DECLARE)

namespace {

using Bytes = std::vector<std::uint8_t>;

void change(Bytes& bytes, const std::vector<Bytes>& seeds, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  constexpr std::uint8_t kTelling[] = {0, 1, 0x7F, 0x80, 0xFF, '"', '{', '}', '/', '.', '9', '-'};
  const std::size_t at = below(bytes.size());
  switch (below(7)) {
    case 0:
      if (!bytes.empty()) bytes[at] ^= static_cast<std::uint8_t>(1U << below(8));
      break;
    case 1:
      if (!bytes.empty()) bytes[at] = kTelling[below(std::size(kTelling))];
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), below(9), kTelling[below(std::size(kTelling))]);
      break;
    case 4: {
      const std::size_t count = std::min(below(17), bytes.size() - at);
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + count));
      break;
    }
    case 5: {  // a number of 8 bytes that is too large, or nearly so
      const std::uint64_t number = below(2) == 0 ? random() >> below(64) : ~std::uint64_t{0} - below(9);
      for (std::size_t i = 0; i < 8 && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<std::uint8_t>(number >> 8 * i);
      break;
    }
    default: {  // a piece of another seed
      const Bytes& other = seeds[below(seeds.size())];
      const std::size_t from = below(other.size()), count = std::min(below(33), other.size() - from);
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), other.begin() + static_cast<std::ptrdiff_t>(from),
                   other.begin() + static_cast<std::ptrdiff_t>(from + count));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  using Target = int (*)(const std::uint8_t*, std::size_t);
#define MILLRACE_NAME(name) {#name, fuzz_##name},
  const std::map<std::string, Target> targets = {MILLRACE_TARGETS(MILLRACE_NAME)};
  const auto found = targets.find(argv[1]);
  if (found == targets.end()) return 2;
  const Target target = found->second;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> seeds;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    target(seeds.back().data(), seeds.back().size());
  }
  if (seeds.empty()) return 2;
  std::mt19937_64 random(7);
  const long count = std::atol(argv[3]);
  for (long k = 0; k < count; ++k) {
    Bytes bytes = seeds[random() % seeds.size()];
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) change(bytes, seeds, random);
    constexpr std::size_t kMaxBytes = 1 << 16;
    if (bytes.size() > kMaxBytes) bytes.resize(kMaxBytes);
    target(bytes.data(), bytes.size());
  }
  std::printf("%zu seeds, %ld changed inputs\n", seeds.size(), count);
  return 0;
}
