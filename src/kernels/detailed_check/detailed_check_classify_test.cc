#include "src/kernels/detailed_check/detailed_check_classify.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace millrace::detailed_check {
namespace {

// A true copy: little residual, no more content in either picture.
Evidence copy() {
  Evidence out;
  out.windows = 5000;
  out.excess = out.residual_excess = 0.5F;
  out.differing_share = 0;
  out.correlation = 0.99F;
  return out;
}

struct Case {
  std::string name;
  std::function<void(Evidence&)> change;
  DifferenceKind kind;
  bool target_more = false, source_more = false;
};

TEST(Classify, EveryLimitDecidesOnBothOfItsSides) {
  const Thresholds limits;
  const auto nearly = [](auto value) { return value * (1 - 1e-4F); };
  const auto just_over = [](auto value) { return value * (1 + 1e-4F); };
  const std::vector<Case> cases = {
      {"a copy", [](Evidence&) {}, DifferenceKind::same},
      {"too few windows", [&](Evidence& e) { e.windows = limits.min_windows - 1; }, DifferenceKind::different},
      {"enough windows", [&](Evidence& e) { e.windows = limits.min_windows; }, DifferenceKind::same},
      {"at the limit", [](Evidence& e) { e.excess = e.residual_excess = 1; }, DifferenceKind::same},
      {"a residual", [](Evidence& e) { e.excess = e.residual_excess = 1.001F; }, DifferenceKind::altered},
      // Only the drift is too large: the camera moved.
      {"another view", [](Evidence& e) { e.excess = 1.5F; }, DifferenceKind::different},
      {"a drift and a residual", [](Evidence& e) { e.excess = 3, e.residual_excess = 2; }, DifferenceKind::altered},
      {"altered nearly everywhere",
       [&](Evidence& e) { e.excess = e.residual_excess = 2, e.differing_share = nearly(limits.max_altered_share); },
       DifferenceKind::altered},
      {"different everywhere",
       [&](Evidence& e) { e.excess = e.residual_excess = 2, e.differing_share = limits.max_altered_share; },
       DifferenceKind::different},
      {"altered, and hardly correlated",
       [&](Evidence& e) { e.excess = e.residual_excess = 2, e.correlation = limits.min_altered_correlation; },
       DifferenceKind::different},
      {"less correlated than a copy", [&](Evidence& e) { e.correlation = nearly(limits.min_correlation); },
       DifferenceKind::different},
      {"just correlated", [&](Evidence& e) { e.correlation = limits.min_correlation; }, DifferenceKind::same},
      {"no correlation, and a residual", [](Evidence& e) { e.excess = e.residual_excess = 2, e.correlation = 0.8F; },
       DifferenceKind::altered},
      {"the target shows more",
       [&](Evidence& e) { e.target_outside = just_over(static_cast<double>(limits.max_outside)); },
       DifferenceKind::same, true, false},
      {"the source shows more", [](Evidence& e) { e.source_outside = 0.3; }, DifferenceKind::same, false, true},
      {"hardly more", [&](Evidence& e) { e.target_outside = static_cast<double>(limits.max_outside); },
       DifferenceKind::same},
      {"the edge of a frame", [](Evidence& e) { e.target_outside = 0.01, e.has_target_frame = true; },
       DifferenceKind::same},
      {"the frame is of the other", [](Evidence& e) { e.target_outside = 0.01, e.has_source_frame = true; },
       DifferenceKind::same, true, false},
      {"both show more", [](Evidence& e) { e.target_outside = e.source_outside = 0.02; }, DifferenceKind::framed, true,
       true},
      {"framed comes before toned", [](Evidence& e) { e.target_outside = e.source_outside = 0.02, e.tone = 80; },
       DifferenceKind::framed, true, true},
      {"a strong edit", [&](Evidence& e) { e.tone = just_over(limits.max_tone); }, DifferenceKind::toned},
      {"an edit", [&](Evidence& e) { e.tone = limits.max_tone; }, DifferenceKind::same},
      {"a longer exposure", [](Evidence& e) { e.gain = 1.2, e.gain_rest = 0.1; }, DifferenceKind::toned},
      {"a shorter exposure", [](Evidence& e) { e.gain = 1 / 1.2, e.gain_rest = 0.1; }, DifferenceKind::toned},
      {"a gain that explains little", [&](Evidence& e) { e.gain = 1.2, e.gain_rest = limits.max_gain_rest; },
       DifferenceKind::same},
      {"a small gain", [&](Evidence& e) { e.gain = limits.max_gain; }, DifferenceKind::same},
      {"toned, and a part", [](Evidence& e) { e.tone = 80, e.target_outside = 0.2; }, DifferenceKind::toned, true,
       false},
      // A later limit does not change what an earlier one decides.
      {"toned, and altered", [](Evidence& e) { e.tone = 80, e.excess = e.residual_excess = 2; },
       DifferenceKind::altered},
      {"toned, and uncorrelated", [](Evidence& e) { e.tone = 80, e.correlation = 0.5F; }, DifferenceKind::different},
  };
  for (const Case& one : cases) {
    Evidence evidence = copy();
    one.change(evidence);
    const Classification found = classify(evidence);
    EXPECT_EQ(name_of(found.kind), std::string(name_of(one.kind))) << one.name;
    EXPECT_EQ(found.has_target_more, one.target_more) << one.name;
    EXPECT_EQ(found.has_source_more, one.source_more) << one.name;
  }
}

TEST(Classify, OtherThresholdsDecideOtherwise) {
  Evidence evidence = copy();
  evidence.tone = 20;
  EXPECT_EQ(classify(evidence).kind, DifferenceKind::same);
  Thresholds strict;
  strict.max_tone = 10;
  EXPECT_EQ(classify(evidence, strict).kind, DifferenceKind::toned);
}

// The picture that shows less is contained in the other, whichever of them the target is.
TEST(Classify, ThePictureThatShowsLessIsContained) {
  for (const bool swapped : {false, true}) {
    EXPECT_EQ(containment_of(false, false, swapped), Containment::both);
    EXPECT_EQ(containment_of(true, true, swapped), Containment::neither);
  }
  EXPECT_EQ(containment_of(true, false, false), Containment::second);  // the target, the first, shows more
  EXPECT_EQ(containment_of(false, true, false), Containment::first);
  EXPECT_EQ(containment_of(true, false, true), Containment::first);
  EXPECT_EQ(containment_of(false, true, true), Containment::second);
}

}  // namespace
}  // namespace millrace::detailed_check
