#include <fmt/format.h>
#include <bit>
#include <cstdlib>
#include <chrono>
#include "src/jobs/dedupe/candidates.h"
#include "src/jobs/dedupe/codes.h"
#include "src/jobs/dedupe/pictures_for_bench.h"
using namespace millrace;
using namespace millrace::dedupe;
int main(int argc, char** argv) {
  const std::string what = argv[1];
  Executor executor(2);
  if (what == "distances") {
    made_up::Fit fit;
    float* f[] = {&fit.fall, &fit.fall_spread, &fit.waves, &fit.slope, &fit.horizon, &fit.object, &fit.flat};
    for (int i = 3; i < argc && i < 10; ++i) *f[i - 3] = std::strtof(argv[i], nullptr);
    const std::size_t n = std::strtoul(argv[2], nullptr, 10);
    std::vector<Codes> whole(n), mid(n);
    const auto t0 = std::chrono::steady_clock::now();
    executor.parallel_for(n, 64, [&](std::size_t a, std::size_t b) {
      for (std::size_t i = a; i < b; ++i) {
        const auto px = made_up::pixels_of(made_up::draw(i, fit));
        whole[i] = whole_codes(px.data());
        mid[i] = middle_codes(px.data());
      }
    });
    fmt::print("{} us each\n", 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() / n);
    for (int k = 0; k < 4; ++k) {
      std::array<std::uint64_t, 65> h{};
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) ++h[std::popcount(whole[i][k] ^ whole[j][k])];
      double m = 0, m2 = 0, all = n * (n - 1) / 2.0, cum = 0;
      for (int d = 0; d <= 64; ++d) m += d * h[d] / all, m2 += d * d * h[d] / all;
      fmt::print("{} mean {:.2f} sd {:.2f} ", k, m, std::sqrt(m2 - m * m));
      for (int d = 0; d <= 20; ++d) {
        cum += h[d] / all;
        if (d % 2 == 0) fmt::print(" {}:{:.2e}", d, cum);
      }
      fmt::print("\n");
    }
  }
}
