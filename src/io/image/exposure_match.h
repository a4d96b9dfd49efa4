// Input: the metadata of two picture files about their origin.
// Output: whether both come from the same exposure.
// Never: compares pixels. A rewritten date makes two exposures of one, so equal pixels must win over this result.
#pragma once

#include <cstdint>

#include "src/io/image/provenance.h"

namespace millrace {

enum class ExposureMatch : std::uint8_t { unknown, same, different };

// Pictures are compared only if they come from one camera: the same make and model, and the same serial number where
// both have one. For different cameras, or none in the metadata, the result is `unknown`.
//
// DateTimeOriginal is compared in UTC where both have an offset, else as local time. The comparison uses the coarser
// precision of the two: seconds, then as many digits of the fraction as both have.
//   they differ                                      different
//   they differ by whole hours, but fractions and
//   exposures agree                                  unknown: a clock was corrected, or a zone was lost
//   equal, and exposure time, f-number, ISO or
//   exposure bias are known for both and differ      different: a bracket
//   equal with fractions                             same
//   equal whole seconds without them on either       unknown: one second may have many exposures
// Fractions that are only zeros on both count as none, since some cameras always write them. Exposures that differ by
// less than 2 % are equal: programs round the fractions anew, and no bracket has such small steps. Times that differ by
// whole hours are `unknown` in two cases. Both have the same fraction and no exposures differ; or one has lost its
// fraction, and both have the same exposure. Without fractions they may be shots taken every hour. An invalid date
// (zeros, blanks, the 31st of February, an hour 24) counts as absent. So does the first day of 1970, with which clocks
// and programs begin, and so does an invalid offset.
ExposureMatch compare_exposures(const Provenance& a, const Provenance& b);

}  // namespace millrace
