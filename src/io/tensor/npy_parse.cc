// The header is a Python dict literal, e.g. {'descr': '<u8', 'fortran_order': False, 'shape': (3,),
// }. Only what NumPy writes is read: strings without escapes, integers, True and False, tuples and
// lists of those.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/tensor/npy.h"
#include "src/io/tensor/npy_header.h"

namespace millrace::npy {
namespace {

constexpr std::size_t kMaxDimensions = 32;
constexpr std::size_t kMaxFields = 256;
constexpr std::size_t kMaxName = 256;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Header header() {
    std::optional<std::vector<Field>> fields;
    std::optional<bool> fortran;
    std::optional<std::vector<std::uint64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !fields) {
        fields = description();
      } else if (key == "fortran_order" && !fortran) {
        fortran = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        throw_bad_data(fmt::format("its header has an unknown or repeated key '{}'", escape_unprintable(key)));
      }
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ != text_.size()) throw_bad_data("its header has data after the dictionary");
    if (!fields || !fortran || !shape) throw_bad_data("its header lacks descr, fortran_order or shape");
    if (*fortran && shape->size() > 1) unsupported("it is in Fortran order; save it with numpy.ascontiguousarray");
    return {std::move(*fields), std::move(*shape), 0};
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw_bad_data(fmt::format("its header lacks '{}' at character {}", c, at_));
  }

  std::string string() {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) throw_bad_data("its header lacks a string");
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) throw_bad_data("a string in its header has no closing quote");
    const std::string_view value = text_.substr(at_, end - at_);
    if (value.size() > kMaxName || value.find('\\') != std::string_view::npos) {
      throw_bad_data("a string in its header is too long or has escapes");
    }
    at_ = end + 1;
    return std::string(value);
  }

  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    throw_bad_data("fortran_order is neither True nor False");
  }

  std::uint64_t integer() {
    skip_space();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
        throw_bad_data("a number in its header is too large");
      value = 10 * value + digit;
    }
    if (at_ == begin) throw_bad_data("its header lacks a number");
    return value;
  }

  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> numbers;
    expect('(');
    while (!accept(')')) {
      if (numbers.size() == kMaxDimensions) unsupported("it has more than 32 dimensions");
      numbers.push_back(integer());
      if (accept(')')) break;
      expect(',');
    }
    return numbers;
  }

  static ElementType type_of(const std::string& text) {
    // Kinds of texts, objects, dates and bytes.
    if (text.size() > 1 && std::string_view("OSUVMma").find(text[1]) != std::string_view::npos) {
      throw NotNumeric{
          {ErrorCode::unsupported, fmt::format("its type '{}' is not a number", escape_unprintable(text)), {}}};
    }
    if (text.size() < 3 || text.size() > 4)
      unsupported(fmt::format("its type '{}' is not supported", escape_unprintable(text)));
    int bytes = 0;
    for (const char digit : text.substr(2)) {
      if (digit < '0' || digit > '9')
        unsupported(fmt::format("its type '{}' is not supported", escape_unprintable(text)));
      bytes = 10 * bytes + (digit - '0');
    }
    const char order = text[0], kind = text[1];
    const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    const bool known =
        (kind == 'b' && bytes == 1) || ((kind == 'u' || kind == 'i') && power) || (kind == 'f' && power && bytes > 1);
    if (!known) unsupported(fmt::format("its type '{}' is not supported", escape_unprintable(text)));
    if (order == '>') unsupported("it is big-endian; save it with .astype('<...')");
    if (order != '<' && order != '=' && !(order == '|' && bytes == 1)) {
      throw_bad_data(fmt::format("its type '{}' has no byte order", escape_unprintable(text)));
    }
    const TypeCode code = kind == 'f'   ? TypeCode::floating
                          : kind == 'i' ? TypeCode::integer
                          : kind == 'u' ? TypeCode::unsigned_integer
                                        : TypeCode::boolean;
    return {code, static_cast<std::uint8_t>(8 * bytes)};
  }

  std::vector<Field> description() {
    if (!accept('[')) return {{"", type_of(string())}};
    std::vector<Field> fields;
    while (!accept(']')) {
      if (fields.size() == kMaxFields) unsupported("it has more than 256 fields");
      expect('(');
      std::string name = string();
      expect(',');
      skip_space();
      if (at_ < text_.size() && text_[at_] == '[') unsupported("it has nested fields");
      const ElementType type = type_of(string());
      if (name.empty()) unsupported("a field has no name (padding?)");
      fields.push_back({std::move(name), type});
      if (!accept(')')) {
        expect(',');
        if (!accept(')')) unsupported("it has fields that are arrays");
      }
      if (accept(']')) break;
      expect(',');
    }
    if (fields.empty()) throw_bad_data("its type has no fields");
    return fields;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Returns a type such as "<u4".
std::string text_of(ElementType type) {
  const char kind = type.code == TypeCode::floating           ? 'f'
                    : type.code == TypeCode::integer          ? 'i'
                    : type.code == TypeCode::unsigned_integer ? 'u'
                                                              : 'b';
  if (type.code == TypeCode::bfloat) {
    throw Failure(ErrorCode::usage, fmt::format("the .npy format does not support {}", name_of(type)), "",
                  "choose float16 or float32, or another format");
  }
  return fmt::format("{}{}{}", type.bytes() == 1 ? '|' : '<', kind, type.bytes());
}

}  // namespace

Header parse_header(const std::function<void(std::span<std::byte>)>& next, std::uint64_t bytes) {
  constexpr std::size_t kPrefix = 10;
  if (bytes < kPrefix) throw_bad_data("it is not a .npy file");
  std::byte prefix[kPrefix];
  next(prefix);
  if (std::memcmp(prefix, "\x93NUMPY", 6) != 0) throw_bad_data("it is not a .npy file");
  const auto major = std::to_integer<unsigned>(prefix[6]);
  if (major < 1 || major > 3) unsupported(fmt::format("version {} of the .npy format is not supported", major));
  std::uint64_t length = number_at<std::uint16_t>(prefix, 8), before = kPrefix;
  if (major > 1) {
    std::byte high[2];
    before += sizeof(high);
    if (bytes < before) throw_bad_data("the file ends in its header");
    next(high);
    length |= std::uint64_t{number_at<std::uint16_t>(high, 0)} << 16;
  }
  if (length > kMaxHeader) throw_bad_data("its header is larger than 1 MiB");
  if (bytes - before < length) throw_bad_data("the file ends in its header");
  std::string text(static_cast<std::size_t>(length), '\0');
  next(std::as_writable_bytes(std::span(text)));
  Header header = Parser(text).header();
  header.data_offset = static_cast<std::size_t>(before + length);

  const std::uint64_t available = bytes - header.data_offset;
  std::uint64_t needed = header.item_bytes();
  bool empty = false;
  for (const std::uint64_t dimension : header.shape) empty = empty || dimension == 0;
  for (const std::uint64_t dimension : header.shape) {
    if (empty) break;
    // Dividing instead of multiplying: the product may not fit 64 bits.
    if (needed > available / dimension) {
      throw_bad_data(fmt::format("the file is too short: its header states {}", header.words()));
    }
    needed *= dimension;
  }
  if (!empty && needed > available) {
    throw_bad_data(fmt::format("the file is too short: its header states {}", header.words()));
  }
  return header;
}

std::uint64_t Header::item_bytes() const {
  std::uint64_t sum = 0;
  for (const Field& field : fields) sum += field.type.bytes();
  return sum;
}

std::uint64_t Header::items() const {
  std::uint64_t product = 1;
  for (const std::uint64_t dimension : shape) {
    if (dimension == 0) return 0;
  }
  for (const std::uint64_t dimension : shape) product *= dimension;
  return product;
}

std::string Header::words() const {
  std::string text;
  for (const Field& field : fields) {
    const std::string name = name_of(field.type);
    text += (text.empty() ? "" : ", ") + (field.name.empty() ? name : escape_unprintable(field.name) + " " + name);
  }
  if (!is_plain()) text = "(" + text + ")";
  text += " [";
  for (std::size_t at = 0; at < shape.size(); ++at) text += fmt::format("{}{}", at == 0 ? "" : ", ", shape[at]);
  return text + "]";
}

Outcome<Header> parse(std::span<const std::byte> bytes, const std::string& subject) {
  std::span<const std::byte> rest = bytes;
  try {
    return parse_header(
        [&](std::span<std::byte> out) {
          std::copy_n(rest.begin(), out.size(), out.begin());
          rest = rest.subspan(out.size());
        },
        bytes.size());
  } catch (const ParseError& parse_error) {
    return parse_error.about(subject);
  }
}

Outcome<Header> read_header(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  FileSource source((*file)->descriptor(), (*file)->size());
  try {
    return parse_header(source);
  } catch (const ParseError& parse_error) {
    return parse_error.about(path);
  }
}

Header parse_header(RandomAccessSource& source) {
  std::uint64_t at = 0;
  return parse_header(
      [&](std::span<std::byte> out) {
        source.read(at, out);
        at += out.size();
      },
      source.size());
}

std::string header_text(const std::vector<Field>& fields, std::span<const std::uint64_t> shape) {
  std::string type;
  if (fields.size() == 1 && fields[0].name.empty()) {
    type = "'" + text_of(fields[0].type) + "'";
  } else {
    for (const Field& field : fields) {
      type += fmt::format("{}('{}', '{}')", type.empty() ? "[" : ", ", field.name, text_of(field.type));
    }
    type += "]";
  }
  std::string dimensions;
  for (const std::uint64_t dimension : shape)
    dimensions += fmt::format("{}{}", dimensions.empty() ? "" : ", ", dimension);
  if (shape.size() == 1) dimensions += ",";
  std::string dictionary = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", type, dimensions);
  constexpr std::size_t kPrefix = 10, kAlign = 64;
  dictionary.append((kAlign - (kPrefix + dictionary.size() + 1) % kAlign) % kAlign, ' ');
  dictionary += '\n';
  if (dictionary.size() > 0xFFFF) throw Failure(ErrorCode::too_large, "a .npy header is larger than 64 KiB");
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dictionary.size() & 255);
  text += static_cast<char>(dictionary.size() >> 8);
  return text + dictionary;
}

}  // namespace millrace::npy
