// Input: points in the plane, each of a group.
// Output: a figure of them, coloured and shaped by group, with each group's mean and the ellipse of its spread.
// Never: draws a spread of fewer points than have one.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/report/figure.h"

namespace millrace::report {

struct Scatter {
  std::string title, caption, description;
  std::string x_title, y_title;
  std::vector<std::array<double, 2>> points;  // those that are not finite are not shown, and counted in a note
  std::vector<std::size_t> group;             // of each point: of `names`
  std::vector<std::string> names;             // of the groups
  std::vector<std::string> point_names;       // what a pointer is told; empty: the group's
  bool means = true;
  // At one standard deviation along every direction; of groups of three points or more.
  bool ellipses = true;
  // One unit is as long upwards as to the right: distances are what they look like.
  bool equal_units = true;
  int width = 640;  // of the picture, in pixels
};

// Failure(internal) where a group is none of `names`, or a list has another length than points.
Figure draw(const Scatter& scatter);

}  // namespace millrace::report
