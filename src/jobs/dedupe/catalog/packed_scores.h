// Input: judgements of appearances.
// Output: the same in a third of the bytes that one row per judgement takes.
// Never: trusts what it unpacks: data that pack() cannot have produced are skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

// Packs judgements by their first appearance: that appearance, the number of others, then for each other its
// appearance, a byte of orientation and kind, and the score. Words have this machine's byte order. Sorts `scores`.
std::vector<std::uint8_t> pack_scores(std::vector<CatalogScore>& scores);
void unpack_scores(std::span<const std::uint8_t> packed, const std::function<void(const CatalogScore&)>& visit);

}  // namespace millrace::dedupe
