#include "src/kernels/detailed_check/detailed_check_classify.h"

namespace millrace::detailed_check {

Classification classify(const Evidence& e, const Thresholds& limits) {
  Classification out;
  if (e.windows < limits.min_windows) return out;
  // Another view of the scene: everything has moved a little, depending on its distance.
  if (e.excess > 1 && e.residual_excess <= 1) return out;
  if (e.excess > 1) {
    const bool is_altered =
        e.differing_share < limits.max_altered_share && e.correlation > limits.min_altered_correlation;
    if (is_altered) out.kind = DifferenceKind::altered;
    return out;
  }
  if (e.correlation < limits.min_correlation) return out;
  const auto shows_more = [&](double outside, bool has_frame) {
    return outside > static_cast<double>(has_frame ? limits.max_outside_framed : limits.max_outside);
  };
  out.has_target_more = shows_more(e.target_outside, e.has_target_frame);
  out.has_source_more = shows_more(e.source_outside, e.has_source_frame);
  const bool has_other_gain = e.gain > limits.max_gain || e.gain < 1 / limits.max_gain;
  if (out.has_target_more && out.has_source_more) {
    out.kind = DifferenceKind::framed;
  } else if (e.tone > limits.max_tone || (has_other_gain && e.gain_rest < limits.max_gain_rest)) {
    out.kind = DifferenceKind::toned;
  } else {
    out.kind = DifferenceKind::same;
  }
  return out;
}

Containment containment_of(bool has_target_more, bool has_source_more, bool swapped) {
  if (has_target_more && has_source_more) return Containment::neither;
  if (!has_target_more && !has_source_more) return Containment::both;
  return has_source_more == swapped ? Containment::second : Containment::first;
}

}  // namespace millrace::detailed_check
