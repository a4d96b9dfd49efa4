#include "src/io/tensor/torch_tensors.h"

#include <unordered_set>

#include "src/io/tensor/torch_names.h"

namespace millrace::torch_file {
namespace {

using pickle::Index;
using pickle::Value;
using pickle::ValueKind;
using tensor_file::Tensor;

constexpr std::size_t kMaxTensors = 65'536, kMaxName = 4096, kMaxNames = 16 << 20, kMaxDimensions = 32;
constexpr int kMaxNesting = 64;
// Limit on the values that are visited in all: a value may occur in many places.
constexpr std::size_t kMaxVisits = std::size_t{1} << 22;

// A storage, and the range of it that a view of before PyTorch 0.4 covers.
struct Part {
  Storage storage;
  std::optional<ElementType> type;  // empty: bytes
  std::uint64_t first = 0, elements = 0;
};

class Walk {
 public:
  explicit Walk(const pickle::Document& document) : document_(document) {}

  std::vector<TorchTensor> run() {
    std::string name;
    visit(document_.root(), name, 0);
    std::unordered_set<std::string_view> names;
    for (const TorchTensor& found : out_) {
      if (!names.insert(found.tensor.name).second) {
        throw_bad_data(fmt::format("it has two tensors '{}'", printable_name(found.tensor.name)));
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] static void not_as_written() {
    throw_bad_data("its pickle describes a tensor in a way that PyTorch does not");
  }

  void visit(Index index, std::string& name, int nesting) {
    if (nesting > kMaxNesting)
      unsupported("its pickle is nested more than 64 levels deep", "save less deeply nested values");
    if (++visits_ > kMaxVisits) too_large("its pickle has more than 4,194,304 values in its containers");
    const Value& value = document_[index];
    switch (value.kind) {
      case ValueKind::dictionary: {
        const auto items = document_.items(value);
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
          visit_item(items[i + 1], key_of(document_[items[i]]), name, nesting);
        }
        return;
      }
      case ValueKind::list:
      case ValueKind::tuple: {
        const auto items = document_.items(value);
        for (std::size_t i = 0; i < items.size(); ++i) visit_item(items[i], std::to_string(i), name, nesting);
        return;
      }
      case ValueKind::call:
        return visit_call(value, name, nesting);
      case ValueKind::persistent:
        unsupported("it contains a storage without a tensor", "save it with torch.save(tensor)");
      default:
        return;
    }
  }

  void visit_item(Index index, std::string_view key, std::string& name, int nesting) {
    const std::size_t before = name.size();
    if (nesting > 0) name += '.';
    name += key;
    if (name.size() > kMaxName) too_large("a name in it is longer than 4 KiB");
    visit(index, name, nesting + 1);
    name.resize(before);
  }

  std::string key_of(const Value& key) const {
    if (key.kind == ValueKind::text) {
      if (key.a > kMaxName) too_large("a name in it is longer than 4 KiB");
      return std::string(document_.text(key));
    }
    if (key.kind == ValueKind::integer || key.kind == ValueKind::boolean) return std::to_string(key.integer);
    unsupported("a key of a dictionary in it is neither a string nor a number", "save it with strings as keys");
  }

  void visit_call(const Value& call, std::string& name, int nesting) {
    const auto arguments = document_.items(document_[call.a]);
    switch (call_of(call)) {
      case Call::size:
      case Call::device:
      case Call::none:
        return;
      case Call::parameter:
        if (arguments.empty()) not_as_written();
        return visit(arguments[0], name, nesting + 1);
      case Call::tensor:
      case Call::tensor_v2:
      case Call::tensor_v3:
        return add(call_of(call), arguments, name);
    }
  }

  std::uint64_t number(Index index) const {
    const Value& value = document_[index];
    if (value.kind != ValueKind::integer) not_as_written();
    if (value.integer < 0) throw_bad_data("a number in its pickle is negative");
    return static_cast<std::uint64_t>(value.integer);
  }

  // Reads a tuple, or a torch.Size of one.
  std::vector<std::uint64_t> numbers(Index index) const {
    const Value* value = &document_[index];
    if (value->kind == ValueKind::call && call_of(*value) == Call::size) {
      const auto arguments = document_.items(document_[value->a]);
      if (arguments.size() != 1) not_as_written();
      value = &document_[arguments[0]];
    }
    if (value->kind != ValueKind::tuple && value->kind != ValueKind::list) not_as_written();
    const auto items = document_.items(*value);
    if (items.size() > kMaxDimensions) unsupported("it has more than 32 dimensions");
    std::vector<std::uint64_t> out;
    for (const Index item : items) out.push_back(number(item));
    return out;
  }

  // Reads ('storage', type, key, device, elements[, view]); a view is (its key, first element, elements).
  Part part_of(Index index) const {
    const Value& id = document_[index];
    if (id.kind != ValueKind::persistent || document_[id.a].kind != ValueKind::tuple) not_as_written();
    const auto items = document_.items(document_[id.a]);
    if (items.size() < 5 || items.size() > 6 || document_[items[0]].kind != ValueKind::text) not_as_written();
    if (document_.text(document_[items[0]]) != "storage") {
      unsupported(fmt::format("its pickle holds a '{}'; only plain tensors are read",
                              printable_name(document_.text(document_[items[0]]))),
                  "save a model with torch.save(model.state_dict())");
    }
    Part out;
    out.type = storage_type(document_[items[1]]);
    if (!out.type && !is_untyped_storage(document_[items[1]])) not_as_written();
    if (document_[items[2]].kind != ValueKind::text) not_as_written();
    if (document_[items[2]].a > kMaxName) too_large("a name in it is longer than 4 KiB");
    out.storage = {std::string(document_.text(document_[items[2]])), number(items[4]),
                   out.type ? out.type->bytes() : 1};
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(out.storage.elements, out.storage.element_bytes, &bytes)) not_as_written();
    out.elements = out.storage.elements;
    if (items.size() == 6 && document_[items[5]].kind != ValueKind::none) {
      const Value& view = document_[items[5]];
      if (view.kind != ValueKind::tuple || view.a != 3) not_as_written();
      out.first = number(document_.items(view)[1]);
      out.elements = number(document_.items(view)[2]);
      if (out.first > out.storage.elements || out.elements > out.storage.elements - out.first) {
        throw_bad_data("a view in it extends beyond its storage");
      }
    }
    return out;
  }

  // Adds the tensor of (storage, first element, shape, strides, ...). The third version has the type as seventh
  // argument.
  void add(Call call, std::span<const Index> arguments, const std::string& name) {
    if (out_.size() == kMaxTensors) too_large("it has more than 65,536 tensors");
    names_ += name.size();
    if (names_ > kMaxNames) too_large("the names of its tensors are longer than 16 MiB together");
    if (arguments.size() < (call == Call::tensor ? 4U : call == Call::tensor_v2 ? 6U : 7U)) not_as_written();
    const Part part = part_of(arguments[0]);
    TorchTensor found;
    found.storage = part.storage;
    Tensor& tensor = found.tensor;
    tensor.name = name;
    const std::optional<ElementType> type = call == Call::tensor_v3 ? dtype(document_[arguments[6]]) : part.type;
    if (!type || (call == Call::tensor_v3 && part.type)) not_as_written();
    tensor.type = *type;
    // The next argument tells whether the numbers are to be conjugated or negated.
    const std::size_t plain = call == Call::tensor_v3 ? 7 : 6;
    if (arguments.size() > plain && document_[arguments[plain]].kind != ValueKind::none) {
      if (document_[arguments[plain]].kind != ValueKind::dictionary) not_as_written();
      if (!document_.items(document_[arguments[plain]]).empty()) {
        unsupported(fmt::format("its tensor '{}' is a conjugated or negated view", printable_name(name)),
                    "save it with torch.save(tensor.resolve_conj().resolve_neg())");
      }
    }
    tensor.shape = numbers(arguments[2]);
    tensor.strides = strides(arguments[3], name);
    if (tensor.strides.size() != tensor.shape.size()) not_as_written();
    const std::uint64_t element = tensor.type.bytes();
    // Counted in elements of the tensor, whatever the storage counts.
    const std::uint64_t room = part.type ? part.elements : part.elements / element;
    place(tensor, number(arguments[1]), room);
    tensor.first += part.first * part.storage.element_bytes;
    out_.push_back(std::move(found));
  }

  std::vector<std::uint64_t> strides(Index index, const std::string& name) const {
    const Value& value = document_[index];
    if (value.kind == ValueKind::tuple) {
      for (const Index item : document_.items(value)) {
        if (document_[item].kind == ValueKind::integer && document_[item].integer < 0) {
          unsupported(fmt::format("its tensor '{}' has a negative stride", printable_name(name)),
                      "save it with torch.save(tensor.clone())");
        }
      }
    }
    return numbers(index);
  }

  // Sets the offset of the first element. Checks that all elements lie in the room, and are not too many for it.
  static void place(Tensor& tensor, std::uint64_t first, std::uint64_t room) {
    constexpr std::uint64_t kRepeats = 1024, kSmall = 16 << 20;
    const std::uint64_t element = tensor.type.bytes();
    bool empty = false;
    for (const std::uint64_t side : tensor.shape) empty = empty || side == 0;
    std::uint64_t last = first, elements = 1, bytes = 0;
    bool fits = first <= room && !__builtin_mul_overflow(first, element, &tensor.first);
    for (std::size_t i = 0; i < tensor.shape.size() && !empty && fits; ++i) {
      std::uint64_t reach = 0;
      fits = !__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &reach) &&
             !__builtin_add_overflow(last, reach, &last) &&
             !__builtin_mul_overflow(elements, tensor.shape[i], &elements) &&
             !__builtin_mul_overflow(elements, element, &bytes);
    }
    if (!fits || (!empty && last >= room)) {
      throw_bad_data(fmt::format("its tensor '{}' extends beyond its storage", printable_name(tensor.name)));
    }
    if (empty) {
      tensor.strides.clear();
    } else if (bytes > kSmall && bytes / kRepeats > room * element) {
      too_large(fmt::format("its tensor '{}' repeats its numbers more than 1,024 times", printable_name(tensor.name)));
    }
    // A tensor that is row after row needs no strides.
    const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end()),
        strides(tensor.strides.begin(), tensor.strides.end());
    if (ArrayView{nullptr, tensor.type, shape, strides, MemoryKind::host, 0}.contiguous()) tensor.strides.clear();
  }

  const pickle::Document& document_;
  std::vector<TorchTensor> out_;
  std::size_t visits_ = 0, names_ = 0;
};

}  // namespace

std::vector<TorchTensor> tensors_of(const pickle::Document& document) { return Walk(document).run(); }

}  // namespace millrace::torch_file
