// Input: an enumeration whose choices_of() lists what people call its values.
// Output: a value by its name, and a name by its value.
// Never: knows an option.
//
//   enum class Fruit { apple, pear };
//   constexpr std::array<Choice<Fruit>, 2> choices_of(Fruit) { return {{{"apple", Fruit::apple}, {"pear",
//   Fruit::pear}}}; }
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"

namespace millrace {

template <typename E>
struct Choice {
  const char* name;
  E value;
};

// "value" for a value that is listed.
template <typename E>
const char* choice_name(E value) {
  for (const auto& choice : choices_of(value)) {
    if (choice.value == value) return choice.name;
  }
  return "";
}

template <typename E>
std::vector<std::string> choice_names() {
  std::vector<std::string> names;
  for (const auto& choice : choices_of(E{})) names.emplace_back(choice.name);
  return names;
}

}  // namespace millrace
