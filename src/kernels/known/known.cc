#include "src/kernels/known/known.h"

namespace millrace::known {

std::vector<Answer> answers() {
  std::vector<Answer> out;
  for (const auto& some : {picture_answers(), code_answers(), chart_answers(), similarity_answers(), latent_answers(),
                           statistics_answers()})
    out.insert(out.end(), some.begin(), some.end());
  return out;
}

}  // namespace millrace::known
