// hamming_bench [name=value...]: one self-join of codes in memory, timed, as one line of JSON.
//   n=100000 bits=64 radius=5 threads=2 repeat=5 algorithm=auto data=uniform|hot|skewed
//   expand=1 (also streams out the pairs of rows, timed by itself)
//   input=FILE (raw codes instead of generated ones) pairs=FILE (writes i, j, distance as 3 uint32 a pair of nodes)
//
// Lower bound: the codes must be read (8 or 32 bytes each at about 20 GB/s a machine of two cores). Brute force must do
// one xor, one population count and half a comparison for each 16 pairs and column of 32 bits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/device/cpu/cpu_level.h"
#include "src/kernels/hamming/hamming_words.h"

namespace millrace::hamming {
namespace {

using Arguments = std::map<std::string, std::string>;

template <typename Code>
Code flipped(Code code, std::uint64_t flips, std::mt19937_64& random) {
  for (std::uint64_t f = 0; f < flips; ++f) {
    const int bit = static_cast<int>(random() % (8 * sizeof(Code)));
    set_word64(code, bit / 64, word64(code, bit / 64) ^ std::uint64_t{1} << (bit % 64));
  }
  return code;
}

template <typename Code>
std::vector<Code> make(std::size_t n, const std::string& data, std::uint64_t radius) {
  std::mt19937_64 random(1);
  std::vector<Code> codes(n);
  for (Code& code : codes) {
    for (int w = 0; w < kWords64<Code>; ++w) set_word64(code, w, random());
  }
  if (data == "uniform") {
    for (std::size_t i = 0; i < n / 100; ++i) {
      codes[random() % n] = flipped(codes[random() % n], random() % (radius + 1), random);
    }
  } else if (data == "hot") {
    // Half of the codes are near one of n / 50 centres, and 20,000 are one code.
    for (std::size_t i = 0; i < n / 2; ++i) {
      codes[random() % n] = flipped(codes[random() % (n / 50 + 1)], random() % (2 * radius), random);
    }
    for (std::size_t i = 0; i < 20000; ++i) codes[random() % n] = codes[0];
  } else if (data == "skewed") {
    // Half of the bits are set in one code of 16.
    for (Code& code : codes) {
      for (int w = 0; w < kWords64<Code>; ++w) {
        std::uint64_t rare = random();
        for (int k = 0; k < 3; ++k) rare &= random();
        set_word64(code, w, (word64(code, w) & 0x00FF00FFFF00FF00u) | (rare & 0xFF00FF0000FF00FFu));
      }
    }
  }
  return codes;
}

template <typename Code>
int bench(Arguments& arguments) {
  const auto number = [&](const char* name) { return std::stoll(arguments[name]); };
  std::vector<Code> codes;
  if (!arguments["input"].empty()) {
    std::ifstream in(arguments["input"], std::ios::binary | std::ios::ate);
    codes.resize(static_cast<std::size_t>(in.tellg()) / sizeof(Code));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(codes.data()), static_cast<std::streamsize>(codes.size() * sizeof(Code)));
  } else {
    codes = make<Code>(static_cast<std::size_t>(number("n")), arguments["data"],
                       static_cast<std::uint64_t>(number("radius")));
  }
  Options options{static_cast<int>(number("radius")), Algorithm::automatic};
  for (const Algorithm algorithm : {Algorithm::brute, Algorithm::index}) {
    if (arguments["algorithm"] == name_of(algorithm)) options.algorithm = algorithm;
  }
  const Executor executor(static_cast<int>(number("threads")));
  std::vector<double> seconds;
  Bytes peak;
  for (long long i = 0; i < number("repeat"); ++i) {
    Budget budget(Bytes{std::uint64_t{1} << 40});
    const auto begin = std::chrono::steady_clock::now();
    JoinResult fresh = self_join(std::span<const Code>(codes), options, executor, budget);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    peak = budget.peak();
    if (i + 1 == number("repeat") && !arguments["pairs"].empty()) {
      std::ofstream out(arguments["pairs"], std::ios::binary);
      out.write(reinterpret_cast<const char*>(fresh.pairs.list.data()),
                static_cast<std::streamsize>(fresh.pairs.list.size() * sizeof(HammingPair)));
    }
    double expand_seconds = 0;
    if (i + 1 == number("repeat") && number("expand") != 0) {
      const auto start = std::chrono::steady_clock::now();
      std::uint64_t streamed = 0;
      expand(fresh, executor, budget, [&](std::span<const HammingPair> block) { streamed += block.size(); });
      expand_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (streamed != fresh.expanded) return 1;
    }
    if (i + 1 == number("repeat")) {
      std::sort(seconds.begin(), seconds.end());
      std::printf("%s\n",
                  fmt::format("{{\"n\": {}, \"bits\": {}, \"radius\": {}, \"threads\": {}, \"best_s\": {:.5f}, "
                              "\"median_s\": {:.5f}, \"nodes\": {}, \"pairs\": {}, \"expanded\": {}, \"expand_s\": "
                              "{:.3f}, "
                              "\"bytes_per_code\": {:.1f}, \"level\": \"{}\", \"why\": \"{}\"}}",
                              codes.size(), 8 * sizeof(Code), options.radius, executor.threads(), seconds[0],
                              seconds[seconds.size() / 2], fresh.nodes.count, fresh.pairs.list.size(), fresh.expanded,
                              expand_seconds, static_cast<double>(peak.count) / static_cast<double>(codes.size()),
                              name_of(current_cpu_level()), fresh.why)
                      .c_str());
    }
  }
  return 0;
}

}  // namespace
}  // namespace millrace::hamming

int main(int count, char** values) {
  millrace::use_cpu_level_from_environment();
  std::map<std::string, std::string> arguments = {
      {"n", "100000"},       {"bits", "64"},      {"radius", "5"}, {"threads", "2"}, {"repeat", "5"},
      {"algorithm", "auto"}, {"data", "uniform"}, {"expand", "0"}, {"input", ""},    {"pairs", ""}};
  for (int i = 1; i < count; ++i) {
    const std::string text = values[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || !arguments.contains(text.substr(0, equals))) {
      std::fprintf(stderr, "not an argument: %s\n", text.c_str());
      return 2;
    }
    arguments[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (arguments["bits"] == "256") return millrace::hamming::bench<millrace::hamming::Code256>(arguments);
  return millrace::hamming::bench<std::uint64_t>(arguments);
}
