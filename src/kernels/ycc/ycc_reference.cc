#include "src/kernels/ycc/ycc.h"
#include "src/kernels/ycc/ycc_math.h"

namespace millrace {

void luma_from_ycc420_reference(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width) {
  for (int x = 0; x < width; ++x) {
    y[x] = luma_of_ycc(y[x], upsampled(near.cb, far.cb, x), upsampled(near.cr, far.cr, x));
  }
}

}  // namespace millrace
