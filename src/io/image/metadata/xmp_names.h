// Input: the attributes of XMP's elements, which say what prefixes stand for.
// Output: names with the prefixes that programs are used to ("xmp:", "dc:"), whatever a packet calls them.
// Never: forgets a prefix while its element is open, or keeps it longer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

class XmpNames {
 public:
  // Of an element at this depth. A prefix of an address that is not known stays as it is.
  void open(std::string_view attributes, std::size_t depth);
  void close(std::size_t depth);
  // Of an element, which may be called without a prefix; and of an attribute, which then has none.
  std::string of_element(std::string_view name) const;
  std::string of_attribute(std::string_view name) const;

 private:
  struct Alias {
    std::string_view prefix, usual;
    std::size_t depth;
  };
  std::vector<Alias> aliases_;  // the innermost last; of those alone that are called otherwise
};

}  // namespace millrace
