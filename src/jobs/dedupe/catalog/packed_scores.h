// Input: judgements of appearances.
// Output: the same in a third of the bytes that rows of them take.
// Never: believes what it unpacks: what cannot have been packed is passed over.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

// The first appearance of each, how many others it has, and of each of these the appearance, orientation and kind, and
// the score; words of this machine. `scores` is sorted.
std::vector<std::uint8_t> pack(std::vector<CatalogScore>& scores);
void unpack(std::span<const std::uint8_t> packed, const std::function<void(const CatalogScore&)>& visit);

}  // namespace millrace::dedupe
