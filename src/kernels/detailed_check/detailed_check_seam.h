// Input: a picture, and the place of another picture within it.
// Output: whether the first continues at the sides of the second, or only holds it.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {

// True if `part` is a crop of the photograph or drawing `in`. False if `in` is a screen, a frame or a blurred picture
// that was put around it. `to_in` maps the raster of the part to `in`. A side with hardly anything behind it cannot be
// judged; if no side can be judged, the result is true.
bool continues_around(const PictureRaster& in, const Size& part, const Affine& to_in);

}  // namespace millrace::detailed_check
