#include "src/io/tensor/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace millrace::safetensors {
namespace {

using tensor_file::Tensor;

constexpr std::uint64_t kMaxHeader = 16 << 20;
constexpr std::size_t kMaxTensors = 65'536, kMaxName = 4096, kMaxDimensions = 32;

struct Type {
  std::string_view name;
  ElementType type;
};
constexpr Type kTypes[] = {{"F16", kFloat16}, {"BF16", kBfloat16}, {"F32", kFloat32}, {"F64", kFloat64},
                           {"I8", kInt8},     {"U8", kUint8},      {"I16", kInt16},   {"U16", kUint16},
                           {"I32", kInt32},   {"U32", kUint32},    {"I64", kInt64},   {"U64", kUint64},
                           {"BOOL", kBool}};

// Handles the parser's events for {name: {"dtype": text, "shape": [numbers], "data_offsets": [begin, end]},
// "__metadata__": {text: text}}. The parser keeps no values, only a bit for each level of nesting. The third level is
// the last that is allowed.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Tensor> tensors;

  bool null() override { return unexpected(); }
  bool boolean(bool) override { return unexpected(); }
  bool number_integer(number_integer_t) override { throw_bad_data("a number in its header is negative"); }
  bool number_float(number_float_t, const string_t&) override {
    throw_bad_data("a number in its header is not a whole number");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (in_ == In::shape) {
      if (tensors.back().shape.size() == kMaxDimensions) unsupported("it has more than 32 dimensions");
      tensors.back().shape.push_back(value);
    } else if (in_ == In::offsets) {
      if (offsets_ == 2) return unexpected();
      (offsets_++ == 0 ? tensors.back().block.offset : tensors.back().block.end) = value;
    } else {
      return unexpected();
    }
    return true;
  }
  bool string(string_t& text) override {
    if (in_ == In::metadata) return true;
    if (in_ != In::tensor || field_ != Field::dtype) return unexpected();
    for (const Type& known : kTypes) {
      if (known.name != text) continue;
      tensors.back().type = known.type;
      return true;
    }
    unsupported(fmt::format("its tensor '{}' has the type {}, which is not supported",
                            printable_name(tensors.back().name), printable_name(text)),
                "save it as float16, bfloat16 or float32");
  }
  bool binary(binary_t&) override { return unexpected(); }

  bool start_object(std::size_t) override {
    if (in_ == In::nothing) {
      in_ = In::file;
    } else if (in_ == In::file) {
      in_ = metadata_ ? In::metadata : In::tensor;
      seen_ = 0;
    } else {
      return unexpected();
    }
    return true;
  }
  bool key(string_t& text) override {
    if (in_ == In::file) return begin(text);
    if (in_ == In::metadata) return true;
    field_ = text == "dtype" ? Field::dtype : text == "shape" ? Field::shape : Field::offsets;
    const auto bit = 1U << static_cast<unsigned>(field_);
    if ((field_ == Field::offsets && text != "data_offsets") || (seen_ & bit) != 0) {
      throw_bad_data(fmt::format("its tensor '{}' has an unknown or repeated key '{}'",
                                 printable_name(tensors.back().name), printable_name(text)));
    }
    seen_ |= bit;
    return true;
  }
  bool end_object() override {
    if (in_ == In::tensor && (seen_ != 7 || offsets_ != 2)) {
      throw_bad_data(
          fmt::format("its tensor '{}' lacks dtype, shape or data_offsets", printable_name(tensors.back().name)));
    }
    in_ = in_ == In::file ? In::nothing : In::file;
    return true;
  }
  bool start_array(std::size_t) override {
    if (in_ != In::tensor || field_ == Field::dtype) return unexpected();
    in_ = field_ == Field::shape ? In::shape : In::offsets;
    return true;
  }
  bool end_array() override {
    in_ = In::tensor;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    throw_bad_data(fmt::format("its header is not valid JSON at character {}", at));
  }

 private:
  enum class In : std::uint8_t { nothing, file, metadata, tensor, shape, offsets };
  enum class Field : std::uint8_t { dtype, shape, offsets };

  [[noreturn]] static bool unexpected() { throw_bad_data("its header is not that of a .safetensors file"); }

  bool begin(const std::string& name) {
    metadata_ = name == "__metadata__";
    offsets_ = 0;
    if (name.size() > kMaxName) too_large("a name in it is longer than 4 KiB");
    if (tensors.size() == kMaxTensors) too_large("it has more than 65,536 tensors");
    if (!names_.insert(name).second) throw_bad_data(fmt::format("it has two tensors '{}'", printable_name(name)));
    if (!metadata_) tensors.push_back({.name = name, .type = {}, .shape = {}, .strides = {}, .block = {}});
    return true;
  }

  In in_ = In::nothing;
  Field field_ = Field::dtype;
  unsigned seen_ = 0;
  int offsets_ = 0;
  bool metadata_ = false;
  std::unordered_set<std::string> names_;
};

// Checks that each tensor has the bytes that its shape needs, and that they follow one another without gaps to the end.
void check_places(std::vector<Tensor>& tensors, std::uint64_t begin, std::uint64_t bytes) {
  std::vector<Tensor*> order;
  for (Tensor& tensor : tensors) {
    std::uint64_t needed = tensor.type.bytes();
    bool empty = false, fits = true;
    for (const std::uint64_t side : tensor.shape) empty = empty || side == 0;
    for (const std::uint64_t side : tensor.shape)
      fits = fits && (empty || !__builtin_mul_overflow(needed, side, &needed));
    if (empty) needed = 0;
    auto& block = tensor.block;
    if (!fits || block.end > bytes || block.offset > block.end || block.end - block.offset != needed) {
      throw_bad_data(fmt::format("the size of its tensor '{}' does not match its shape", printable_name(tensor.name)));
    }
    block.stored = block.bytes = needed;
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return std::pair(a->block.offset, a->block.end) < std::pair(b->block.offset, b->block.end);
  });
  std::uint64_t at = 0;
  for (Tensor* const tensor : order) {
    if (tensor->block.offset != at) {
      throw_bad_data(
          fmt::format("its tensor '{}' overlaps another one, or leaves a gap", printable_name(tensor->name)));
    }
    at = tensor->block.end;
    tensor->block.offset += begin;
    tensor->block.end += begin;
  }
  if (at != bytes) throw_bad_data("its size does not match its tensors");
}

}  // namespace

std::vector<Tensor> list(RandomAccessSource& file) {
  const std::uint64_t size = file.size();
  std::byte front[8];
  if (size < sizeof(front)) throw_bad_data("it is not a .safetensors file");
  file.read(0, front);
  const auto length = number_at<std::uint64_t>(front, 0);
  if (length > size - sizeof(front)) throw_bad_data("the file ends in its header, or it is not a .safetensors file");
  if (length > kMaxHeader) too_large("its header is larger than 16 MiB");
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(sizeof(front), std::as_writable_bytes(std::span(text)));
  Handler handler;
  nlohmann::json::sax_parse(text, &handler);
  const std::uint64_t begin = sizeof(front) + length;
  check_places(handler.tensors, begin, size - begin);
  return std::move(handler.tensors);
}

}  // namespace millrace::safetensors
