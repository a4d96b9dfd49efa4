#include "src/base/json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace millrace {

namespace {

constexpr std::size_t kMaxDepth = 64;

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

template <typename Number>
void append_integer(std::string& out, Number number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

class Writer {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

  void write(const Json& json) {
    if (json.is_object()) {
      write_all(json.items(), '{', '}', [&](const Json::Member& member) {
        append_json(out_, member.key);
        out_ += indent_ < 0 ? ":" : ": ";
        write(member.value);
      });
    } else if (json.is_array()) {
      write_all(std::pair(json.begin(), json.end()), '[', ']', [&](const Json& each) { write(each); });
    } else if (json.is_string()) {
      append_json(out_, json.text());
    } else if (json.is_boolean()) {
      out_ += json.get<bool>() ? "true" : "false";
    } else if (json.is_number_unsigned()) {
      append_integer(out_, json.get<std::uint64_t>());
    } else if (json.is_number_integer()) {
      append_integer(out_, json.get<std::int64_t>());
    } else if (json.is_number()) {
      append_json(out_, json.get<double>());
    } else {
      out_ += "null";
    }
  }

 private:
  template <typename Items, typename Write>
  void write_all(const Items& items, char opening, char closing, const Write& write_one) {
    out_ += opening;
    ++depth_;
    bool first = true;
    const auto [begin, end] = ends(items);
    for (auto at = begin; at != end; ++at) {
      if (!first) out_ += ',';
      first = false;
      line();
      write_one(*at);
    }
    --depth_;
    if (!first) line();
    out_ += closing;
  }
  static std::pair<const Json::Member*, const Json::Member*> ends(const Json::Object& items) {
    return {items.data(), items.data() + items.size()};
  }
  static std::pair<const Json*, const Json*> ends(const std::pair<const Json*, const Json*>& items) { return items; }
  void line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  std::string& out_;
  int indent_;
  std::size_t depth_ = 0;
};

[[noreturn]] void throw_not_a(const char* kind) { throw Json::Error(std::string("a value is not ") + kind); }

// Returns true if two members have one name. Takes no more than n log n steps: a text may have a million members.
bool has_repeated(const Json::Object& members) {
  constexpr std::size_t kFew = 16;
  if (members.size() <= kFew) {
    for (std::size_t b = 1; b < members.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (members[a].key == members[b].key) return true;
    return false;
  }
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const Json::Member& each : members) names.emplace_back(each.key);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// Keeps the last value of each name, in the place of the first.
void merge_repeated(Json::Object& members) {
  if (!has_repeated(members)) return;
  Json::Object out;
  std::unordered_map<std::string, std::size_t> places;
  for (Json::Member& each : members) {
    const auto [at, is_new] = places.emplace(each.key, out.size());
    if (is_new) {
      out.push_back(std::move(each));
    } else {
      out[at->second].value = std::move(each.value);
    }
  }
  members = std::move(out);
}

}  // namespace

// Builds a tree from the parser's events.
class Json::Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(Json& out) : out_(out) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override {
    merge_repeated(std::get<Object>(open_.back()->value_));
    return close();
  }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    Object& members = std::get<Object>(open_.back()->value_);
    members.push_back({std::move(name), Json()});
    place_ = &members.back().value;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    words = error.what();
    at = position;
    return false;
  }

  std::string words = "it is nested too deeply";
  std::size_t at = 0;

 private:
  Json& put(Json value) {
    if (open_.empty()) return out_ = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    return *place_ = std::move(value);
  }
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kMaxDepth) return false;
    open_.push_back(&put(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& out_;
  std::vector<Json*> open_;  // lists and objects that have not been closed
  Json* place_ = nullptr;    // where the value of the last key goes
};

void append_json(std::string& out, std::string_view text) {
  if (!is_plain(text)) {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void append_json(std::string& out, double number) { out += nlohmann::json(number).dump(); }

Json::Json() noexcept = default;
Json::Json(bool value) noexcept : value_(value) {}
Json::Json(int value) noexcept : value_(std::int64_t{value}) {}
Json::Json(unsigned value) noexcept : value_(std::uint64_t{value}) {}
Json::Json(long value) noexcept : value_(std::int64_t{value}) {}
Json::Json(unsigned long value) noexcept : value_(std::uint64_t{value}) {}
Json::Json(long long value) noexcept : value_(std::int64_t{value}) {}
Json::Json(unsigned long long value) noexcept : value_(std::uint64_t{value}) {}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(std::string text) noexcept : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> values) {
  const bool members = std::all_of(values.begin(), values.end(), [](const Json& each) {
    return each.is_array() && each.size() == 2 && each[0].is_string();
  });
  *this = members ? object() : array();
  for (const Json& each : values) {
    if (members) {
      (*this)[each[0].text()] = each[1];
    } else {
      push_back(each);
    }
  }
}

Json Json::object() {
  Json out;
  out.value_ = Object();
  return out;
}

Json Json::array() {
  Json out;
  out.value_ = Array();
  return out;
}

Json Json::array(std::initializer_list<Json> values) {
  Json out;
  out.value_ = Array(values);
  return out;
}

Json Json::parse(std::string_view text) {
  Json out;
  Builder builder(out);
  if (!nlohmann::json::sax_parse(text, &builder)) throw Error(builder.words, builder.at);
  return out;
}

Json Json::parse_or_null(std::string_view text) {
  Json out;
  Builder builder(out);
  if (!nlohmann::json::sax_parse(text, &builder)) return Json();
  return out;
}

std::string Json::dump(int indent) const {
  std::string out;
  Writer(out, indent).write(*this);
  return out;
}

bool Json::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const { return std::holds_alternative<double>(value_) || is_number_integer(); }
bool Json::is_number_integer() const { return std::holds_alternative<std::int64_t>(value_) || is_number_unsigned(); }
bool Json::is_number_unsigned() const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number >= 0;
  return std::holds_alternative<std::uint64_t>(value_);
}
bool Json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const { return std::holds_alternative<Object>(value_); }

bool Json::boolean() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  throw_not_a("a boolean");
}

std::int64_t Json::integer(std::int64_t least, std::int64_t most) const {
  if (const auto* number = std::get_if<std::int64_t>(&value_); number && *number >= least && *number <= most)
    return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&value_); number && std::cmp_less_equal(*number, most))
    return static_cast<std::int64_t>(*number);
  throw_not_a("an integer in range");
}

std::uint64_t Json::count(std::uint64_t most) const {
  if (const auto* number = std::get_if<std::uint64_t>(&value_); number && *number <= most) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_);
      number && *number >= 0 && std::cmp_less_equal(*number, most))
    return static_cast<std::uint64_t>(*number);
  throw_not_a("a non-negative integer in range");
}

double Json::real() const {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*number);
  throw_not_a("a number");
}

const std::string& Json::text() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  throw_not_a("a string");
}

std::size_t Json::size() const {
  if (const auto* elements = std::get_if<Array>(&value_)) return elements->size();
  if (const auto* members = std::get_if<Object>(&value_)) return members->size();
  return is_null() ? 0 : 1;
}

Json* Json::begin() {
  if (auto* elements = std::get_if<Array>(&value_)) return elements->data();
  if (is_null()) return nullptr;
  throw_not_a("a list");
}
Json* Json::end() {
  auto* elements = std::get_if<Array>(&value_);
  return elements ? elements->data() + elements->size() : nullptr;
}
const Json* Json::begin() const { return const_cast<Json*>(this)->begin(); }
const Json* Json::end() const { return const_cast<Json*>(this)->end(); }

const Json::Object& Json::items() const {
  static const Object none;
  if (const auto* members = std::get_if<Object>(&value_)) return *members;
  if (is_null()) return none;
  throw_not_a("an object");
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  auto* members = std::get_if<Object>(&value_);
  if (!members) throw_not_a("an object");
  members->push_back({std::string(key), Json()});
  return members->back().value;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json null;
  const Json* found = find(key);
  return found ? *found : null;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw Error("the member '" + std::string(key) + "' is missing");
}

Json& Json::element(std::size_t index) {
  auto* elements = std::get_if<Array>(&value_);
  if (!elements) throw_not_a("a list");
  if (index >= elements->size()) throw Error("a list is too short");
  return (*elements)[index];
}

const Json* Json::find(std::string_view key) const {
  const auto* members = std::get_if<Object>(&value_);
  if (!members) return nullptr;
  const auto found =
      std::find_if(members->begin(), members->end(), [&](const Member& each) { return each.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

Json& Json::emplace_back(Json value) {
  if (is_null()) value_ = Array();
  auto* elements = std::get_if<Array>(&value_);
  if (!elements) throw_not_a("a list");
  return elements->emplace_back(std::move(value));
}

void Json::update(const Json& object) {
  if (!object.is_object()) throw_not_a("an object");
  for (const Member& each : object.items()) (*this)[each.key] = each.value;
}

void Json::erase(std::string_view key) {
  if (auto* members = std::get_if<Object>(&value_))
    std::erase_if(*members, [&](const Member& each) { return each.key == key; });
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_number_unsigned() && b.is_number_unsigned()) return a.get<std::uint64_t>() == b.get<std::uint64_t>();
    if (a.is_number_integer() && b.is_number_integer())
      return a.is_number_unsigned() == b.is_number_unsigned() && a.get<std::int64_t>() == b.get<std::int64_t>();
    return a.real() == b.real();
  }
  if (a.is_object() && b.is_object()) {
    return a.size() == b.size() && std::all_of(a.items().begin(), a.items().end(), [&](const Json::Member& each) {
             const Json* other = b.find(each.key);
             return other && *other == each.value;
           });
  }
  if (a.is_array() && b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end());
  if (a.is_string() && b.is_string()) return a.text() == b.text();
  if (a.is_boolean() && b.is_boolean()) return a.boolean() == b.boolean();
  return a.is_null() && b.is_null();
}

}  // namespace millrace
