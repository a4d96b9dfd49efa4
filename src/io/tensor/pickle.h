// Input: a pickle of any protocol from 0 to 5, and the few names that it may mention.
// Output: its values, as data: what it would call is written down as a call, with what it would be called with.
// Never: calls, imports or makes anything; recurses; or takes more memory than limits on values allow.
//
// Source of the opcodes: CPython's pickletools. Those that make objects of classes are refused, with the class's name.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/tensor/refusal.h"

namespace millrace::pickle {

inline constexpr std::uint64_t kMostBytes = 16 << 20;
// Values, entries of the memo, of the stack, and items of all containers together.
inline constexpr std::size_t kMostValues = std::size_t{1} << 20, kMostItems = std::size_t{1} << 22;

// What a pickle may name.
struct Name {
  enum class Use : std::uint8_t { value, function, dictionary };  // dictionary: a call of it makes an empty one
  std::string_view module, name;
  Use use = Use::value;
};

struct Vocabulary {
  std::span<const Name> names;
  // What to do about a name that is not among them.
  std::string (*remedy)(std::string_view qualified);
};

using Index = std::uint32_t;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  large_integer,
  real,
  text,
  bytes,
  tuple,
  list,
  dictionary,
  name,
  call,
  persistent
};

struct Value {
  Kind kind = Kind::none;
  Index a = 0;  // a length; a call's arguments, which are a tuple; a persistent id
  union {
    std::int64_t integer = 0;
    double real;
    const char* text;  // of texts, bytes and large integers (little-endian, two's complement)
    std::size_t at;    // of a tuple's items; of a list or dictionary; of a name, also a call's, in the vocabulary
  };
};

class Document {
 public:
  const Value& operator[](Index value) const { return values_[value]; }
  Index root() const { return root_; }
  // Bytes that the pickle took of those it was read from, which must stay.
  std::size_t size() const { return size_; }

  std::string_view text(const Value& value) const { return {value.text, value.a}; }
  // Of a tuple or a list; of a dictionary keys and values by turns; none of what is neither.
  std::span<const Index> items(const Value& value) const;

 private:
  friend class Machine;
  std::vector<Value> values_;
  std::vector<Index> pool_;  // the items of tuples
  std::vector<std::vector<Index>> containers_;
  Index root_ = 0;
  std::size_t size_ = 0;
};

// Nothing where the bytes end before the pickle does. Throws Refusal: bad_data, unsupported, too_large.
std::optional<Document> load(std::span<const std::byte> bytes, const Vocabulary& vocabulary);

}  // namespace millrace::pickle
