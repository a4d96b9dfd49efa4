// Input: what was counted of every picture of a run.
// Output: of each, why somebody should look at it, and in what order: what looks most wrong first.
// Never: calls something wrong that most of them have; changes a result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/jobs/segment/record.h"

namespace millrace::segment {

struct Suspect {
  std::size_t picture = 0;
  std::vector<std::string> why;  // in a few words each
  double weight = 0;             // 0: nothing that would put it first
  double disagreement = 0;       // among those of one weight, the more networks disagree the earlier
};

// All pictures, those that look most wrong first, of several alike in the order of `pictures`. Damage weighs most, then
// doubts of the photograph, a mask without anything where most have some, networks that disagree more than they do of
// others, an area far from the others', and what reaches the edge where less than half of those that have it do.
std::vector<Suspect> suspects(const std::vector<PictureResult>& pictures, const Setup& setup);

// Networks disagree about more than half of what any of them finds in most pictures: then it is not the pictures.
bool disagree_on_most(const std::vector<PictureResult>& pictures, std::size_t head);

// Which classes of a mask are something: not the first of several that exclude each other.
bool is_something(const model::Head& head, std::size_t c);

}  // namespace millrace::segment
