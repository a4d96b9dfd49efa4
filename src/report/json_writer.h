// Input: keys and values, in order.
// Output: the same bytes that Json::dump(1) gives for them.
// Never: holds a tree: for lists of a hundred thousand objects it would be several times as large as the text.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

#include "src/base/json.h"

namespace millrace {

class JsonWriter {
 public:
  // Appends to `out`, in which the first value is `depth` levels deep.
  explicit JsonWriter(std::string& out, int depth = 0) : out_(out), depth_(depth) {}

  void open_object() { open('{'); }
  void close_object() { close('}'); }
  void open_array() { open('['); }
  void close_array() { close(']'); }

  // Keys are constants of the program: plain ASCII without quotes.
  JsonWriter& key(std::string_view name) {
    begin_item();
    out_ += '"';
    out_ += name;
    out_ += "\": ";
    after_key_ = true;
    return *this;
  }

  void value(std::string_view text) {
    begin_item();
    append_json(out_, text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool v) {
    begin_item();
    out_ += v ? "true" : "false";
  }
  void value(std::integral auto v) {
    begin_item();
    fmt::format_to(std::back_inserter(out_), "{}", v);
  }
  void value(double v) {
    begin_item();
    append_json(out_, v);
  }

 private:
  void line() {
    out_ += '\n';
    out_.append(static_cast<std::size_t>(depth_), ' ');
  }
  // Writes the separator between an item and the one before it.
  void begin_item() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (!inside_) return;
    if (!empty_) out_ += ',';
    line();
    empty_ = false;
  }
  void open(char bracket) {
    begin_item();
    out_ += bracket;
    ++depth_;
    inside_ = empty_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!empty_) line();
    out_ += bracket;
    empty_ = false;
  }

  std::string& out_;
  int depth_;
  bool inside_ = false;  // true inside of an object or array
  bool empty_ = true;    // true if the innermost has no item yet
  bool after_key_ = false;
};

}  // namespace millrace
