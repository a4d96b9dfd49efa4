// Input: the operations that the opcodes of a pickle ask for.
// Output: values in a Document, and the state between two opcodes: a stack, marks on it, a memo.
// Never: follows a value into others, so it needs neither recursion nor time for values that a pickle repeats.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>

#include "src/io/tensor/pickle.h"
#include "src/io/tensor/random_access_source.h"

namespace millrace::pickle {

// Thrown if the bytes end before the pickle does.
struct PickleTruncated {};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const Vocabulary& vocabulary) : bytes_(bytes), vocabulary_(vocabulary) {}

  Document run() {
    // Values that occur again and again exist only once.
    const Index none = add({}), no = add_integer(ValueKind::boolean, 0), yes = add_integer(ValueKind::boolean, 1);
    none_ = none;
    booleans_[0] = no;
    booleans_[1] = yes;
    Value empty;
    empty.kind = ValueKind::tuple;
    empty_tuple_ = add(empty);
    for (Index& small : small_) small = add_integer(ValueKind::integer, &small - small_);
    while (!step(static_cast<unsigned char>(take(1)[0]))) {
    }
    out_.size_ = at_;
    return std::move(out_);
  }

 private:
  // Bytes of the pickle.
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) throw PickleTruncated{};
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += static_cast<std::size_t>(count);
    return {begin, static_cast<std::size_t>(count)};
  }
  template <typename Number>
  Number number() {
    const std::string_view text = take(sizeof(Number));
    return number_at<Number>(std::as_bytes(std::span(text)), 0);
  }
  std::string_view line() {
    const auto rest = bytes_.subspan(at_);
    const void* const end = rest.empty() ? nullptr : std::memchr(rest.data(), '\n', rest.size());
    if (end == nullptr) throw PickleTruncated{};
    const std::string_view out = take(static_cast<std::uint64_t>(static_cast<const std::byte*>(end) - rest.data()) + 1);
    return out.substr(0, out.size() - 1);
  }

  // Values.
  Index add(Value value) {
    if (out_.values_.size() == kMaxValues) too_large("its pickle has more than 1,048,576 values");
    out_.values_.push_back(value);
    return static_cast<Index>(out_.values_.size() - 1);
  }
  Index add_integer(ValueKind kind, std::int64_t integer) {
    Value value;
    value.kind = kind;
    value.integer = integer;
    return add(value);
  }
  Index add_text(ValueKind kind, std::string_view text) {
    // The length fits: a pickle has far fewer than 4 GiB.
    Value value;
    value.kind = kind;
    value.a = static_cast<Index>(text.size());
    value.text = text.data();
    return add(value);
  }
  void push(Index value) {
    if (stack_.size() == kMaxValues) too_large("its pickle's stack has more than 1,048,576 values");
    stack_.push_back(value);
  }
  void push_integer(std::int64_t integer) {
    push(integer >= 0 && static_cast<std::size_t>(integer) < std::size(small_)
             ? small_[integer]
             : add_integer(ValueKind::integer, integer));
  }
  // Returns the lowest position of the stack that may be popped: values below the newest mark may not.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Index pop() {
    if (stack_.size() <= floor()) throw_bad_data("its pickle takes from an empty stack");
    const Index out = stack_.back();
    stack_.pop_back();
    return out;
  }
  Value& top() {
    if (stack_.size() <= floor()) throw_bad_data("its pickle takes from an empty stack");
    return out_.values_[stack_.back()];
  }
  // Returns the values above the newest mark and removes the mark. The values stay on the stack until drop().
  std::span<const Index> marked() {
    if (marks_.empty()) throw_bad_data("its pickle lacks a mark");
    const std::span<const Index> out = std::span(stack_).subspan(marks_.back());
    marks_.pop_back();
    return out;
  }
  void drop(std::size_t count) { stack_.resize(stack_.size() - count); }

  void count_items(std::size_t more) {
    items_ += more;
    if (items_ > kMaxItems) too_large("its pickle's containers have more than 4,194,304 items");
  }
  void push_tuple(std::size_t count) {
    if (stack_.size() - floor() < count) throw_bad_data("its pickle takes from an empty stack");
    push_tuple_of(std::span(stack_).last(count));
  }
  void push_tuple_of(std::span<const Index> items) {
    count_items(items.size());
    Value value;
    value.kind = ValueKind::tuple;
    value.a = static_cast<Index>(items.size());
    value.at = out_.pool_.size();
    out_.pool_.insert(out_.pool_.end(), items.begin(), items.end());
    drop(items.size());
    push(value.a == 0 ? empty_tuple_ : add(value));
  }
  void push_container(ValueKind kind, std::span<const Index> items) {
    Value value;
    value.kind = kind;
    value.at = 0;
    const Index container = add(value);
    extend(container, items);
    drop(items.size());
    push(container);
  }
  void extend(Index container, std::span<const Index> items) {
    Value& value = out_.values_[container];
    if (value.kind == ValueKind::dictionary && items.size() % 2 != 0)
      throw_bad_data("a dictionary in its pickle lacks a value");
    if (items.empty()) return;
    count_items(items.size());
    if (value.at == 0) {
      out_.containers_.emplace_back();
      value.at = out_.containers_.size();
    }
    auto& all = out_.containers_[value.at - 1];
    all.insert(all.end(), items.begin(), items.end());
  }
  // Adds the values that were marked to the container below them.
  void extend_marked(ValueKind kind) {
    const std::span<const Index> items = marked();
    extend_below(kind, items);
  }
  void extend_below(ValueKind kind, std::span<const Index> items) {
    const std::size_t below = stack_.size() - items.size();
    if (below <= floor() || out_.values_[stack_[below - 1]].kind != kind) {
      throw_bad_data(kind == ValueKind::list ? "its pickle appends to something that is not a list"
                                             : "its pickle sets an item of something that is not a dictionary");
    }
    extend(stack_[below - 1], items);
    drop(items.size());
  }

  // The memo.
  void remember(std::uint64_t place) {
    if (place >= kMaxValues) too_large("its pickle's memo has more than 1,048,576 values");
    if (stack_.size() <= floor()) throw_bad_data("its pickle takes from an empty stack");
    if (memo_.size() <= place) memo_.resize(static_cast<std::size_t>(place) + 1, kNothing);
    memo_[static_cast<std::size_t>(place)] = stack_.back();
  }
  void recall(std::uint64_t place) {
    if (place >= memo_.size() || memo_[static_cast<std::size_t>(place)] == kNothing) {
      throw_bad_data("its pickle reads a memo entry that it never stored");
    }
    push(memo_[static_cast<std::size_t>(place)]);
  }
  std::uint64_t decimal(std::string_view text) {
    std::uint64_t out = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (problem != std::errc() || end != text.data() + text.size()) throw_bad_data("a number in its pickle is invalid");
    return out;
  }

  // Numbers as text.
  void push_decimal(std::string_view text, bool is_long) {
    if (!is_long && (text == "00" || text == "01")) return push(booleans_[text[1] - '0']);
    if (is_long && text.ends_with('L')) text.remove_suffix(1);
    std::int64_t out = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (problem != std::errc() || end != text.data() + text.size())
      throw_bad_data("a number in its pickle is invalid or too large");
    push_integer(out);
  }
  void push_real(std::string_view text) {
    Value value;
    value.kind = ValueKind::real;
    value.real = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value.real);
    if (problem != std::errc() || end != text.data() + text.size()) throw_bad_data("a number in its pickle is invalid");
    push(add(value));
  }
  void push_long(std::uint64_t length) {
    const std::string_view text = take(length);
    if (text.size() > sizeof(std::int64_t)) return push(add_text(ValueKind::large_integer, text));
    std::int64_t out = !text.empty() && (text.back() & 0x80) != 0 ? -1 : 0;
    if (!text.empty()) std::memcpy(&out, text.data(), text.size());
    push_integer(out);
  }
  void push_quoted(std::string_view text) {
    if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') || text.back() != text.front()) {
      throw_bad_data("a string in its pickle has no quotes");
    }
    push_plain(text.substr(1, text.size() - 2));
  }
  void push_plain(std::string_view text) {
    if (text.find('\\') != std::string_view::npos) {
      unsupported("a string in its pickle has escapes, which are not supported",
                  "save it with a newer pickle protocol");
    }
    push(add_text(ValueKind::text, text));
  }

  // Names, and operations on them.
  [[noreturn]] void refuse_name(std::string_view module, std::string_view name) {
    const std::string qualified = std::string(module.substr(0, 200)) + "." + std::string(name.substr(0, 200));
    unsupported(fmt::format("its pickle wants to call {}; only plain tensors are read", printable_name(qualified)),
                vocabulary_.remedy(qualified));
  }
  void push_name(std::string_view module, std::string_view name) {
    for (std::size_t i = 0; i < vocabulary_.names.size(); ++i) {
      if (vocabulary_.names[i].module != module || vocabulary_.names[i].name != name) continue;
      Value value;
      value.kind = ValueKind::name;
      value.at = i;
      return push(add(value));
    }
    refuse_name(module, name);
  }
  void push_stacked_name() {
    const Value name = out_.values_[pop()], module = out_.values_[pop()];
    if (name.kind != ValueKind::text || module.kind != ValueKind::text)
      throw_bad_data("a name in its pickle is not a string");
    push_name(out_.text(module), out_.text(name));
  }
  std::string words(const Value& value) const {
    if (value.kind != ValueKind::name) return "something that is not a class";
    const Name& name = vocabulary_.names[value.at];
    return fmt::format("{}.{}", name.module, name.name);
  }
  // Refuses to make an object of a class that may only be named.
  [[noreturn]] void refuse_object(const Value& value) {
    unsupported(fmt::format("its pickle wants to create an object of {}; only plain tensors are read", words(value)),
                vocabulary_.remedy(words(value)));
  }
  void reduce() {
    const Index arguments = pop(), function = pop();
    const Value& callee = out_.values_[function];
    if (callee.kind != ValueKind::name) throw_bad_data("its pickle calls something that is not a function");
    if (out_.values_[arguments].kind != ValueKind::tuple)
      throw_bad_data("its pickle calls a function without arguments");
    switch (vocabulary_.names[callee.at].use) {
      case Name::Use::value:
        unsupported(fmt::format("its pickle wants to call {}; only plain tensors are read", words(callee)),
                    vocabulary_.remedy(words(callee)));
      case Name::Use::dictionary:
        if (out_.values_[arguments].a != 0) {
          unsupported(fmt::format("its pickle wants to call {} with arguments", words(callee)),
                      "save it again with Python 3");
        }
        return push_container(ValueKind::dictionary, {});
      case Name::Use::function: {
        Value value;
        value.kind = ValueKind::call;
        value.a = arguments;
        value.at = callee.at;
        return push(add(value));
      }
    }
  }
  // A state_dict() carries the versions of its modules this way; they are ignored.
  void build() {
    pop();
    if (top().kind != ValueKind::dictionary) {
      unsupported("its pickle wants to set the state of an object; only plain tensors are read",
                  "save it with torch.save(tensor)");
    }
  }
  void persistent() {
    Value value;
    value.kind = ValueKind::persistent;
    value.a = pop();
    push(add(value));
  }

  // Executes one opcode; returns true at the end.
  bool step(unsigned char code);
  void step_marked(unsigned char code);
  bool step_number(unsigned char code);
  bool step_container(unsigned char code);
  bool step_memo(unsigned char code);
  void step_text(unsigned char code);
  void step_object(unsigned char code);

  static constexpr Index kNothing = std::numeric_limits<Index>::max();
  const std::span<const std::byte> bytes_;
  const Vocabulary& vocabulary_;
  std::size_t at_ = 0;
  Document out_;
  std::vector<Index> stack_, memo_;
  std::vector<std::size_t> marks_;
  std::size_t items_ = 0, remembered_ = 0;
  Index none_ = 0, empty_tuple_ = 0, booleans_[2] = {}, small_[256] = {};
};

}  // namespace millrace::pickle
