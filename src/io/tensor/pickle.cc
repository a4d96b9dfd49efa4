#include "src/io/tensor/pickle.h"

#include <bit>

#include "src/io/tensor/pickle_machine.h"

namespace millrace::pickle {
namespace {

constexpr int kNewestProtocol = 5;

}  // namespace

std::span<const Index> Document::items(const Value& value) const {
  if (value.kind == ValueKind::tuple) return std::span(pool_).subspan(value.at, value.a);
  if ((value.kind != ValueKind::list && value.kind != ValueKind::dictionary) || value.at == 0) return {};
  return containers_[value.at - 1];
}

// Reads a number: an integer of four bytes, one, two, or with its length before it, or a double. This function and the
// next two return false for any other code.
bool Machine::step_number(unsigned char code) {
  switch (code) {
    case 'J':
      push_integer(number<std::int32_t>());
      break;
    case 'K':
      push_integer(number<std::uint8_t>());
      break;
    case 'M':
      push_integer(number<std::uint16_t>());
      break;
    case 0x8A:
      push_long(number<std::uint8_t>());
      break;
    case 'G': {
      // This is the only big-endian number.
      Value value;
      value.kind = ValueKind::real;
      value.real = std::bit_cast<double>(__builtin_bswap64(number<std::uint64_t>()));
      push(add(value));
      break;
    }
    case 0x8B: {
      const auto length = number<std::int32_t>();
      if (length < 0) throw_bad_data("a number in its pickle has a negative length");
      push_long(static_cast<std::uint64_t>(length));
      break;
    }
    default:
      return false;
  }
  return true;
}

// Writes the value on top to the memo, or reads one of its values.
bool Machine::step_memo(unsigned char code) {
  switch (code) {
    case 'p':
      remember(decimal(line()));
      break;
    case 'q':
      remember(number<std::uint8_t>());
      break;
    case 'r':
      remember(number<std::uint32_t>());
      break;
    case 0x94:
      remember(remembered_);
      break;
    case 'g':
      recall(decimal(line()));
      break;
    case 'h':
      recall(number<std::uint8_t>());
      break;
    case 'j':
      recall(number<std::uint32_t>());
      break;
    default:
      return false;
  }
  // MEMOIZE uses the next free index of the memo, which is the number of entries so far.
  if (code == 'p' || code == 'q' || code == 'r' || code == 0x94) ++remembered_;
  return true;
}

// Makes a tuple, list or dictionary, or adds the values on top to the one below them.
bool Machine::step_container(unsigned char code) {
  switch (code) {
    case ')':
      push(empty_tuple_);
      break;
    case 0x85:
    case 0x86:
    case 0x87:
      push_tuple(code - 0x84U);
      break;
    case ']':
      push_container(ValueKind::list, {});
      break;
    case '}':
      push_container(ValueKind::dictionary, {});
      break;
    case 'a':
      extend_below(ValueKind::list, std::span(stack_).last(std::min<std::size_t>(1, stack_.size() - floor())));
      break;
    case 's':
      extend_below(ValueKind::dictionary, std::span(stack_).last(std::min<std::size_t>(2, stack_.size() - floor())));
      break;
    default:
      return false;
  }
  return true;
}

bool Machine::step(unsigned char code) {
  switch (code) {
    case '.':
      out_.root_ = pop();
      return true;
    case 0x80:
      if (const int protocol = number<std::uint8_t>(); protocol > kNewestProtocol) {
        unsupported(fmt::format("its pickle protocol {} is not supported", protocol), "save it with pickle_protocol=2");
      }
      break;
    case 0x95: {
      // A frame states the number of bytes up to the next one. The reader does not need it, but it has to be there.
      if (number<std::uint64_t>() > kMaxBytes) too_large("its pickle is larger than 16 MiB");
      break;
    }
    case '0':
      pop();
      break;
    case '2': {
      const Index again = pop();
      push(again);
      push(again);
      break;
    }
    case 'N':
      push(none_);
      break;
    case 0x88:
    case 0x89:
      push(booleans_[code == 0x88 ? 1 : 0]);
      break;
    case 'R':
      reduce();
      break;
    case 'b':
      build();
      break;
    case 'Q':
      persistent();
      break;
    case '(':
    case '1':
    case 't':
    case 'l':
    case 'd':
    case 'e':
    case 'u':
      step_marked(code);
      break;
    case 'c': {
      const std::string_view module = line();
      push_name(module, line());
      break;
    }
    case 0x93:
      push_stacked_name();
      break;
    default:
      if (!step_number(code) && !step_container(code) && !step_memo(code)) step_text(code);
  }
  return false;
}

void Machine::step_marked(unsigned char code) {
  if (code == '(') {
    if (marks_.size() == kMaxValues) too_large("its pickle's stack has more than 1,048,576 values");
    return marks_.push_back(stack_.size());
  }
  switch (code) {
    case '1':
      return drop(marked().size());
    case 't':
      return push_tuple_of(marked());
    case 'l':
      return push_container(ValueKind::list, marked());
    case 'd':
      return push_container(ValueKind::dictionary, marked());
    case 'e':
      return extend_marked(ValueKind::list);
    default:
      return extend_marked(ValueKind::dictionary);
  }
}

void Machine::step_text(unsigned char code) {
  switch (code) {
    case 'I':
    case 'L':
      return push_decimal(line(), code == 'L');
    case 'F':
      return push_real(line());
    case 'S':
      return push_quoted(line());
    case 'V':
      return push_plain(line());
    case 'U':
    case 0x8C:
      return push(add_text(ValueKind::text, take(number<std::uint8_t>())));
    case 'T':
    case 'X':
      return push(add_text(ValueKind::text, take(number<std::uint32_t>())));
    case 0x8D:
      return push(add_text(ValueKind::text, take(number<std::uint64_t>())));
    case 'C':
      return push(add_text(ValueKind::bytes, take(number<std::uint8_t>())));
    case 'B':
      return push(add_text(ValueKind::bytes, take(number<std::uint32_t>())));
    case 0x8E:
      return push(add_text(ValueKind::bytes, take(number<std::uint64_t>())));
    default:
      step_object(code);
  }
}

// The opcodes that remain make objects, or are unknown.
void Machine::step_object(unsigned char code) {
  switch (code) {
    case 'i': {
      const std::string_view module = line();
      refuse_name(module, line());
    }
    case 'o': {
      const std::span<const Index> items = marked();
      if (items.empty()) throw_bad_data("its pickle creates an object without a class");
      refuse_object(out_.values_[items.front()]);
    }
    case 0x81:
    case 0x92: {
      pop();
      if (code == 0x92) pop();
      refuse_object(out_.values_[pop()]);
    }
    case 'P':
      unsupported("its pickle refers to data outside the file", "save it with torch.save(tensor)");
    case 0x82:
    case 0x83:
    case 0x84:
      unsupported("its pickle uses registered extensions; only plain tensors are read",
                  "save it with torch.save(tensor)");
    case 0x8F:
    case 0x90:
    case 0x91:
      unsupported("its pickle holds a set; only tensors in dictionaries, lists and tuples are read",
                  "save it with torch.save(tensor)");
    case 0x96:
    case 0x97:
    case 0x98:
      unsupported("its pickle holds raw buffers; only plain tensors are read", "save it with torch.save(tensor)");
    default:
      throw_bad_data(fmt::format("its pickle has an unknown opcode 0x{:02x}", code));
  }
}

std::optional<Document> load(std::span<const std::byte> bytes, const Vocabulary& vocabulary) {
  try {
    return Machine(bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), kMaxBytes))), vocabulary)
        .run();
  } catch (const PickleTruncated&) {
    if (bytes.size() >= kMaxBytes) too_large("its pickle is larger than 16 MiB");
    return std::nullopt;
  }
}

}  // namespace millrace::pickle
