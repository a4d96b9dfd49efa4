// Input: two lumas on one raster, and the gain and bias that map one's levels onto the other's.
// Output: the normal equations of a step of registration.
// Never: used from outside this folder.
#pragma once

#include <array>
#include <cstddef>

namespace millrace::similarity {

inline constexpr std::size_t kUnknowns = 8;  // six of position, gain, bias
// Number of sums: for each unknown, its products with the unknowns up to it, and with the residual.
inline constexpr std::size_t kTerms = kUnknowns * (kUnknowns + 1) / 2 + kUnknowns;

struct FitSettings {
  float gain, bias;
  float width;      // multiple of the mean residual at which a residual counts a quarter
  float least_fit;  // fit below which a step is not worth its equations
};

struct Equations {
  std::array<float, kTerms> sum;
  float fit;     // share of the first luma's variance that is explained, 0 where too little is covered
  float misfit;  // mean square residual, outliers weighted down
};

}  // namespace millrace::similarity
