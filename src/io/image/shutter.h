// Enters: what two picture files say about their origin.
// Leaves: whether one press of the shutter made both.
// Never: looks at pixels: a rewritten date makes two of one press, so equal pixels are to win over what is said here.
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
//   equal, and exposure time, f-number, ISO or
//   exposure bias are told by both and differ        different: a bracket
//   equal with fractions                             same
//   equal whole seconds without them on either       unknown: many presses may stand in a second
// Fractions of zeros alone on both count as none, since some cameras always write them. Exposures that differ by less
// than 2 % are equal: programs round the fractions anew, and no bracket steps so little.
// A date that is none (zeros, blanks, the 31st of February, an hour 24) is as good as absent; so is an offset.
SameShutter same_shutter(const Provenance& a, const Provenance& b);

}  // namespace millrace
