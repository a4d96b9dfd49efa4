// Input: the counts of every image of a run.
// Output: for each image the reasons to check it, and an order in which images that look most wrong come first.
// Never: flags a property that most images have; changes a result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/jobs/segment/record.h"

namespace millrace::segment {

struct Suspect {
  std::size_t picture = 0;
  std::vector<std::string> why;  // a few words each
  double weight = 0;             // 0 if nothing puts the image first
  double disagreement = 0;       // order among equal weights: more disagreement of the networks comes first
};

// Returns all images, those that look most wrong first; equal ones remain in the order of `pictures`. Damage has the
// greatest weight. Next come doubts about the photograph, and an empty mask where most images have labels. Then come
// networks that disagree more than on other images, and an area far from that of others. Last comes a class that
// reaches the edge, if less than half of the images with this class have that.
std::vector<Suspect> rank_suspects(const std::vector<PictureResult>& pictures, const Setup& setup);

// True if networks disagree on more than half of the labeled pixels in most images: then the images are not the cause.
bool is_disagreement_common(const std::vector<PictureResult>& pictures, std::size_t head);

// True if a class is foreground: every class except the first of several that exclude each other.
bool is_foreground(const model::Head& head, std::size_t c);

}  // namespace millrace::segment
