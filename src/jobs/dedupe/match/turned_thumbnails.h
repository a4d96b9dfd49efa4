// Enters: appearances that the catalogue has thumbnails of.
// Leaves: their pixels as they are compared, and hashes of these, turned and mirrored.
// Never: stops at a thumbnail that is missing: its appearance is taken as it is in each orientation.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"
#include "src/kernels/similarity/similarity.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// A thumbnail as it is hashed and compared: the whole picture squeezed to a square. Nothing where it does not decode.
std::optional<similarity::Thumbnail> thumbnail_pixels(std::span<const std::uint8_t> jpeg);

// The codes of an appearance, by its place in a list: part of the appearance, so any picture's that has it.
using CodesOf = std::function<ThumbnailCodes(std::size_t)>;

// By index_of() the orientation.
using TurnedCodes = std::array<ThumbnailCodes, kOrientations.size()>;

// Visits the appearances in their order, on the calling thread, with their own codes and the hashes of their turned
// thumbnails.
void each_turned_thumbnail(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, Catalog& catalog,
                           RunContext& context, const std::function<void(std::size_t, const TurnedCodes&)>& visit);

}  // namespace millrace::dedupe
