// Input: points in the plane, each of a group.
// Output: a figure of them, coloured and shaped by group, with each group's mean and the ellipse of its spread.
// Never: draws the spread of fewer than three points.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/report/figure.h"

namespace millrace::report {

struct ScatterPlot {
  std::string title, caption, description;
  std::string x_title, y_title;
  std::vector<std::array<double, 2>> points;  // points that are not finite are not shown, but counted in a note
  std::vector<std::size_t> group;             // index into `names`, for each point
  std::vector<std::string> names;             // names of the groups
  std::vector<std::string> point_names;       // tooltips; empty: the group's name
  bool means = true;
  // Ellipses of one standard deviation in every direction, for groups of three points or more.
  bool ellipses = true;
  // Units are as long upwards as to the right, so that distances look as they are.
  bool equal_units = true;
  int width = 640;  // width of the picture, in pixels
};

// Throws Failure(internal) if a group is none of `names`, or if a list has another length than `points`.
Figure draw(const ScatterPlot& scatter);

}  // namespace millrace::report
