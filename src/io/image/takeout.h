// Input: the JSON file that Google Takeout puts beside a picture.
// Output: the facts that people gave in it.
// Never: fails. A fact that cannot be read is absent. Nothing large or deep is built from a hostile text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

struct TakeoutFacts {
  std::string description;  // empty for a default text of a camera or program
  std::vector<std::string> people;
  std::optional<double> latitude, longitude;  // both or none; Takeout's zeros are none
  bool favourite = false;
  bool readable = false;  // it is JSON
};

TakeoutFacts read_takeout(std::string_view text);

}  // namespace millrace
