// Input: a picture, and the place of another picture within it.
// Output: whether the first continues at the sides of the second, or only holds it.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/closelook/closelook_steps.h"

namespace millrace::closelook {

// True if `part` is a crop of the photograph or drawing `in`. False if `in` is a screen, a frame or a blurred picture
// that was put around it. `to_in` maps the raster of the part to `in`. A side with hardly anything behind it cannot be
// judged; if no side can be judged, the result is true.
bool goes_on_around(const Raster& in, const Size& part, const Affine& to_in);

}  // namespace millrace::closelook
