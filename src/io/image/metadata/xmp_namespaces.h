// Input: the attributes of XMP's elements, which declare the namespaces of prefixes.
// Output: names with the usual prefixes ("xmp:", "dc:"), whatever prefixes a packet declares.
// Never: forgets a prefix while its element is open; keeps it longer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

class XmpNamespaces {
 public:
  // Reads the declarations of an element at this depth. A prefix of an unknown namespace is unchanged.
  void open(std::string_view attributes, std::size_t depth);
  void close(std::size_t depth);
  // These two return the usual name. An element may have no prefix, in a default namespace; an attribute without prefix
  // has no namespace.
  std::string resolve_element_name(std::string_view name) const;
  std::string resolve_attribute_name(std::string_view name) const;

 private:
  struct Alias {
    std::string_view prefix, usual;
    std::size_t depth;
  };
  std::vector<Alias> aliases_;  // innermost last; only prefixes that differ from the usual ones
};

}  // namespace millrace
