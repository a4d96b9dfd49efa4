// Input: an enumeration whose choices_of() lists the names that users give to its values.
// Output: the name of a value, and the list of all names.
// Never: depends on a particular option.
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

// Returns the name of a value; empty if choices_of() does not list it.
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
