// Enters: what was measured of a latent.
// Leaves: a row of the dataset that arrays.h5 is.
// Never: computes.
#pragma once

#include <string_view>

#include "src/io/store/dataset.h"
#include "src/jobs/latents/inputs.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// An attribute that every output of the job has.
inline constexpr const char* kMark = "latents";
// The array of all numbers a latent: [latents, metrics], NaN where one is absent; their names are the attribute
// "metrics".
inline constexpr const char* kMetricsArray = "metrics";

// `metrics` float64; the distributions float32, those by frame as long as the longest video, NaN behind a shorter one's
// end; `not_finite` uint64, elements that are NaN or infinite; `index`, whose columns are group, video, step and
// frames.
DatasetSpec dataset_of(const Options& options, const LatentSet& set);

// Appends one row of that dataset.
void append_row(const LatentSet& set, const LatentFile& latent, const Measures& measures, RowBlock& block);

}  // namespace millrace::latents
