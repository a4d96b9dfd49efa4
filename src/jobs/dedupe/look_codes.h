// Enters: looks that the catalogue has thumbnails of.
// Leaves: their pixels as they are compared, and hashes of these, turned and mirrored.
// Never: stops at a thumbnail that is missing; its look is passed over.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "src/io/catalog/catalog.h"
#include "src/jobs/dedupe/codes.h"
#include "src/kernels/alike/alike.h"
#include "src/pipeline/chain.h"

namespace millrace::dedupe {

// A thumbnail as it is hashed and compared: the whole picture squeezed to a square. Nothing where it does not decode.
std::optional<alike::Thumbnail> look_pixels(std::span<const std::uint8_t> jpeg);

// By index_of() the orientation.
using TurnedCodes = std::array<LookCodes, kOrientations.size()>;

// Visits the looks in their order, on the calling thread, with the hashes of their turned thumbnails; the first, which
// is not turned, is for the visitor to fill in.
void each_turned_look(std::span<const std::uint64_t> looks, Catalog& catalog, RunContext& context,
                      const std::function<void(std::size_t, TurnedCodes&)>& visit);

}  // namespace millrace::dedupe
