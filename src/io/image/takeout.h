// Input: the JSON file that Google Takeout puts beside a picture.
// Output: what people said in it.
// Never: fails: what cannot be read is absent. Builds what a hostile text could make large or deep.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

struct TakeoutFacts {
  std::string description;  // empty where it is one that says nothing
  std::vector<std::string> people;
  std::optional<double> latitude, longitude;  // both or none; Takeout's zeros are none
  bool favourite = false;
  bool readable = false;  // it is JSON
};

TakeoutFacts read_takeout(std::string_view text);

}  // namespace millrace
