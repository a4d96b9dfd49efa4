// Input: what two picture files say about their origin.
// Output: whether one press of the shutter made both.
// Never: it looks at pixels: a rewritten date makes two of one press, so equal pixels are to win over what is said
// here.
#pragma once

#include <cstdint>

#include "src/io/image/provenance.h"

namespace millrace {

enum class SameShutter : std::uint8_t { unknown, same, different };

// Asked of one camera: the same make and model, and the same serial number where both have one. Another camera, or none
// that is told, is `unknown`.
//
// DateTimeOriginal is compared in UTC where both have an offset, else as local time, at the coarser precision of the
// two: seconds, then as many digits of the fraction as both have.
//   they differ                                      different
//   they differ by whole hours, and fractions and
//   exposures say that they do not                   unknown: a clock was put right, or a zone was lost
//   equal, and exposure time, f-number, ISO or
//   exposure bias are told by both and differ        different: a bracket
//   equal with fractions                             same
//   equal whole seconds without them on either       unknown: many presses may stand in a second
// Fractions of zeros alone on both count as none, since some cameras always write them. Exposures that differ by less
// than 2 % are equal: programs round the fractions anew, and no bracket steps so little.
// Of whole hours: both have one fraction, no exposures differ; or one has lost its fraction, and both tell one
// exposure. Without fractions they may be shots of every hour. A date that is none (zeros, blanks, the 31st of
// February, an hour 24) is as good as absent, and so is the first day of 1970, which clocks and programs begin with; so
// is an offset that is none.
SameShutter same_shutter(const Provenance& a, const Provenance& b);

}  // namespace millrace
