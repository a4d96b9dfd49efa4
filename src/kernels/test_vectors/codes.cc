#include <fmt/format.h>

#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::test_vectors {
namespace {

using hamming::Algorithm;

template <typename Code>
std::string join_answer(const std::vector<Code>& codes, int radius, Algorithm algorithm) {
  const Executor executor(1);
  Budget budget(256_MiB);
  const hamming::JoinResult joined =
      hamming::self_join(std::span<const Code>(codes), {.radius = radius, .algorithm = algorithm}, executor, budget);
  Digest digest;
  for (const hamming::HammingPair& pair : joined.pairs.list.span()) {
    digest.add(pair.i);
    digest.add(pair.j);
    digest.add(static_cast<std::uint32_t>(pair.distance));
  }
  return fmt::format("{} of {}, {}", joined.pairs.list.size(), joined.expanded, digest.text());
}

constexpr KnownAnswer kCodeAnswers[] = {
    {"hamming", "hamming join, 64 bits, brute force", "6553 of 9535, 103b0a171ee45376",
     [](const TestInputs& inputs) { return join_answer(inputs.codes, 6, Algorithm::brute); }},
    {"hamming", "hamming join, 64 bits, index", "6553 of 9535, 103b0a171ee45376",
     [](const TestInputs& inputs) { return join_answer(inputs.codes, 6, Algorithm::index); }},
    {"hamming", "hamming join, 256 bits", "9095 of 11636, 92d92813e56b4507",
     [](const TestInputs& inputs) { return join_answer(inputs.long_codes, 9, Algorithm::brute); }},
};

}  // namespace

std::span<const KnownAnswer> code_answers() { return kCodeAnswers; }

}  // namespace millrace::test_vectors
