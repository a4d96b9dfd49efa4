// Input: a pickle of any protocol from 0 to 5, and the few names that it may mention.
// Output: its values, as data: a call is recorded with its function and its arguments, and not made.
// Never: calls, imports or makes anything; recurses; or takes more memory than the limits on values allow.
//
// Source of the opcodes: CPython's pickletools. Opcodes that make objects of classes are refused, with the class's
// name.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/tensor/parse_error.h"

namespace millrace::pickle {

inline constexpr std::uint64_t kMaxBytes = 16 << 20;
// Limits: of values, of entries of the memo and of the stack; of items of all containers together.
inline constexpr std::size_t kMaxValues = std::size_t{1} << 20, kMaxItems = std::size_t{1} << 22;

// A name that a pickle may mention.
struct Name {
  enum class Use : std::uint8_t { value, function, dictionary };  // dictionary: a call makes an empty one
  std::string_view module, name;
  Use use = Use::value;
};

struct Vocabulary {
  std::span<const Name> names;
  // Returns the remedy for a name that is not among them.
  std::string (*remedy)(std::string_view qualified);
};

using Index = std::uint32_t;

enum class ValueKind : std::uint8_t {
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
  ValueKind kind = ValueKind::none;
  Index a = 0;  // a length; index of a call's arguments, which are a tuple; a persistent id
  union {
    std::int64_t integer = 0;
    double real;
    const char* text;  // for texts, bytes and large integers (little-endian, two's complement)
    std::size_t at;    // index of a tuple's items; of a list or dictionary; of a name, also a call's, in the vocabulary
  };
};

class Document {
 public:
  const Value& operator[](Index value) const { return values_[value]; }
  Index root() const { return root_; }
  // Returns the bytes that the pickle took. The bytes that it was read from must outlive the document.
  std::size_t size() const { return size_; }

  std::string_view text(const Value& value) const { return {value.text, value.a}; }
  // Returns the items of a tuple or a list; keys and values of a dictionary, alternating; none for other values.
  std::span<const Index> items(const Value& value) const;

 private:
  friend class Machine;
  std::vector<Value> values_;
  std::vector<Index> pool_;  // items of all tuples
  std::vector<std::vector<Index>> containers_;
  Index root_ = 0;
  std::size_t size_ = 0;
};

// Returns nullopt if the bytes end before the pickle does. Throws ParseError: bad_data, unsupported, too_large.
std::optional<Document> load(std::span<const std::byte> bytes, const Vocabulary& vocabulary);

}  // namespace millrace::pickle
