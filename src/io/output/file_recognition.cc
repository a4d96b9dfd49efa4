// Recognition of files by their beginning: this program's own outputs, files that it keeps, and others, for messages.
#include <algorithm>
#include <cctype>
#include <utility>

#include "src/base/text.h"
#include "src/io/image/picture.h"
#include "src/io/output/output.h"

namespace millrace {
namespace {

std::string_view view_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Removes `piece` from the front, and the blanks before it; false where the text does not start with it.
bool consume_token(std::string_view& text, std::string_view piece) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text[0]) != std::string_view::npos) text.remove_prefix(1);
  if (!text.starts_with(piece)) return false;
  text.remove_prefix(piece.size());
  return true;
}

// Reads the keys of a JSON object that is the whole text, once from front to back. The values are not checked.
class TopLevelKeys {
 public:
  void read(std::string_view bytes) {
    for (const char c : bytes) read(c);
  }
  // Returns null where the text is not one complete object.
  const std::vector<std::string>* keys() const { return begun_ && depth_ == 0 && !wrong_ ? &keys_ : nullptr; }

 private:
  void read(char c) {
    if (in_text_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
        return;
      }
      if (depth_ == 1 && text_.size() < kMaxKeyLength) text_ += c;
      return;
    }
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return;
    if (!begun_ ? c != '{' : depth_ == 0) wrong_ = true;
    begun_ = true;
    if (c == '"') {
      in_text_ = true;
      text_.clear();
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      depth_ -= depth_ > 0 ? 1 : 0;
    } else if (c == ':' && depth_ == 1 && keys_.size() < kMaxKeys) {
      keys_.push_back(text_);
    }
  }

  static constexpr std::size_t kMaxKeyLength = 64, kMaxKeys = 64;
  std::vector<std::string> keys_;
  std::string text_;
  std::size_t depth_ = 0;
  bool begun_ = false, wrong_ = false, in_text_ = false, escaped_ = false;
};

bool matches_keys(const std::vector<std::string>& found, const std::vector<std::string>& expected) {
  std::size_t at = 0;
  for (const std::string& key : expected) {
    const bool optional = key.ends_with('?');
    const std::string name = key.substr(0, key.size() - (optional ? 1 : 0));
    if (at < found.size() && found[at] == name) {
      ++at;
    } else if (!optional) {
      return false;
    }
  }
  return at == found.size();
}

}  // namespace

std::function<bool(FileReader&)> make_json_recognizer(std::string name, std::vector<std::string> legacy_keys) {
  return [name = std::move(name), legacy_keys = std::move(legacy_keys)](FileReader& file) {
    std::string_view front = view_text(file.peek());
    if (consume_token(front, "{") && consume_token(front, std::string("\"") + kJsonMark + "\"")) {
      return consume_token(front, ":") && consume_token(front, "\"" + name + "\"");
    }
    if (legacy_keys.empty()) return false;
    TopLevelKeys keys;
    for (auto bytes = file.next(); !bytes.empty(); bytes = file.next()) keys.read(view_text(bytes));
    return keys.keys() != nullptr && matches_keys(*keys.keys(), legacy_keys);
  };
}

std::function<bool(FileReader&)> make_table_recognizer(std::string header) {
  return [header = std::move(header)](FileReader& file) { return view_text(file.peek()).starts_with(header + "\n"); };
}

const char* classify_kept_file(std::span<const std::uint8_t> front) {
  const std::string_view text = view_text(front);
  // SQLite's header has the application's id at its 68th byte: "mrac".
  if (text.starts_with("SQLite format 3") && text.size() >= 72 && text.substr(68, 4) == "mrac") return kKeptCatalog;
  for (const auto& [key, name] :
       {std::pair{"\"millrace_journal\"", "a journal"}, {"\"millrace_decisions\"", "decisions"}}) {
    std::string_view rest = text;
    if (consume_token(rest, "{") && consume_token(rest, key)) return name;
  }
  return nullptr;
}

std::string describe_file_type(const std::string& path, std::span<const std::uint8_t> front) {
  if (front.empty()) return "empty";
  if (const ImageFormat format = sniff_format(front, path); format != ImageFormat::unknown) {
    return std::string("a ") + name_of(format) + " picture";
  }
  const std::string start = lower_ascii(view_text(front.first(std::min<std::size_t>(front.size(), 16))));
  const auto begins = [&](std::string_view with) { return start.starts_with(with); };
  if (begins("<!doctype html") || begins("<html")) return "an HTML page";
  if (begins("\x93numpy")) return "a NumPy array";
  if (begins("\x89hdf\r\n")) return "an HDF5 file";
  if (begins("sqlite format 3")) return "a database";
  if (begins("%pdf")) return "a PDF";
  // The last character may be incomplete where the reading ended.
  std::string_view text = view_text(front);
  for (int i = 0; i < 3 && !is_utf8(text); ++i) text.remove_suffix(1);
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) return "unknown data";
  return begins("{") || begins("[") ? "JSON" : "text";
}

}  // namespace millrace
