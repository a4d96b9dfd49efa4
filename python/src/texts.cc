#include "texts.h"

#include <nanobind/stl/string.h>

namespace millrace::python {

nb::object text_of(const std::string& text) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

std::string bytes_of(nb::handle bytes) {
  const auto held = nb::cast<nb::bytes>(bytes);
  return {static_cast<const char*>(held.data()), held.size()};
}

std::vector<std::string> texts_of(nb::handle list) {
  std::vector<std::string> out;
  for (nb::handle one : list) out.push_back(bytes_of(one));
  return out;
}

std::vector<std::pair<std::string, std::vector<std::string>>> options_of(nb::handle list) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (nb::handle option : list) out.emplace_back(nb::cast<std::string>(option[0]), texts_of(option[1]));
  return out;
}

nb::list dicts_of(const std::vector<JobOption>& options) {
  nb::list out;
  for (const JobOption& option : options) {
    nb::dict one;
    one["name"] = option.name;
    one["value_name"] = option.value_name;
    one["help"] = option.help;
    one["group"] = option.group;
    one["initial"] = option.initial;
    one["repeatable"] = option.repeatable;
    out.append(one);
  }
  return out;
}

}  // namespace millrace::python
