// Input: the p-values of a family of tests; NaN is no test, and counts for nothing.
// Output: p-values adjusted for the number of tests; NaN where there was no test.
// Never: reverses the order of two p-values: at most it makes them equal.
#pragma once

#include <span>
#include <vector>

namespace millrace::statistics {

// Holm (1979): bounds the chance of any false finding, whatever the dependence.
std::vector<double> holm(std::span<const double> p);

// Benjamini and Hochberg (1995): bounds the expected share of findings that are false.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace millrace::statistics
