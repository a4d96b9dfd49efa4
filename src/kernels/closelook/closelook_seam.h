// Input: a picture, and where another one lies in it.
// Output: whether it goes on at that one's sides, or only holds it.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/closelook/closelook_steps.h"

namespace millrace::closelook {

// Whether `in` is a photograph or drawing of which `part` is a cut, and not a screen, a frame or a blurred picture that
// was put around it. `to_in` goes from the raster of the part. Of a side that hardly anything lies behind it cannot be
// told; where there is no other, it goes on.
bool goes_on_around(const Raster& in, const Size& part, const Affine& to_in);

}  // namespace millrace::closelook
