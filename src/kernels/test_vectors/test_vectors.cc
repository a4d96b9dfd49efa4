#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::test_vectors {

std::vector<KnownAnswer> answers() {
  std::vector<KnownAnswer> out;
  for (const auto& some : {picture_answers(), code_answers(), chart_answers(), similarity_answers(), latent_answers(),
                           statistics_answers()})
    out.insert(out.end(), some.begin(), some.end());
  return out;
}

}  // namespace millrace::test_vectors
