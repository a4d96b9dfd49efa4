#include "src/io/tensor/torch_names.h"

#include <array>

namespace millrace::torch_file {
namespace {

using Use = pickle::Name::Use;

struct Meaning {
  pickle::Name name;
  Call call = Call::none;
  std::optional<ElementType> storage = {}, dtype = {};
  bool untyped = false;
};

constexpr Meaning function(std::string_view module, std::string_view name, Call call) {
  return {{module, name, Use::function}, call, {}, {}, false};
}
constexpr Meaning storage(std::string_view name, ElementType type) {
  return {{"torch", name, Use::value}, Call::none, type, {}, false};
}
constexpr Meaning number(std::string_view name, ElementType type) {
  return {{"torch", name, Use::value}, Call::none, {}, type, false};
}

constexpr std::array kMeanings = {
    function("torch._utils", "_rebuild_tensor", Call::tensor),
    function("torch._utils", "_rebuild_tensor_v2", Call::tensor_v2),
    function("torch._utils", "_rebuild_tensor_v3", Call::tensor_v3),
    function("torch._utils", "_rebuild_parameter", Call::parameter),
    function("torch", "Size", Call::size),
    function("torch", "device", Call::device),
    Meaning{{"collections", "OrderedDict", Use::dictionary}, Call::none, {}, {}, false},
    Meaning{{"torch.storage", "UntypedStorage", Use::value}, Call::none, {}, {}, true},
    storage("HalfStorage", kFloat16),
    storage("BFloat16Storage", kBfloat16),
    storage("FloatStorage", kFloat32),
    storage("DoubleStorage", kFloat64),
    storage("BoolStorage", kBool),
    storage("ByteStorage", kUint8),
    storage("CharStorage", kInt8),
    storage("ShortStorage", kInt16),
    storage("IntStorage", kInt32),
    storage("LongStorage", kInt64),
    number("float16", kFloat16),
    number("half", kFloat16),
    number("bfloat16", kBfloat16),
    number("float32", kFloat32),
    number("float", kFloat32),
    number("float64", kFloat64),
    number("double", kFloat64),
    number("bool", kBool),
    number("uint8", kUint8),
    number("uint16", kUint16),
    number("uint32", kUint32),
    number("uint64", kUint64),
    number("int8", kInt8),
    number("int16", kInt16),
    number("short", kInt16),
    number("int32", kInt32),
    number("int", kInt32),
    number("int64", kInt64),
    number("long", kInt64),
};

constexpr auto kNames = [] {
  std::array<pickle::Name, kMeanings.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kMeanings[i].name;
  return out;
}();

std::string remedy(std::string_view qualified) {
  struct Known {
    std::string_view part, remedy;
  };
  // The first entry whose text occurs in the name decides.
  static constexpr Known kKnown[] = {
      {"_rebuild_qtensor", "it is quantized: save it with torch.save(tensor.dequantize())"},
      {"torch.QInt", "it is quantized: save it with torch.save(tensor.dequantize())"},
      {"torch.QUInt", "it is quantized: save it with torch.save(tensor.dequantize())"},
      {"torch.per_", "it is quantized: save it with torch.save(tensor.dequantize())"},
      {"_rebuild_sparse", "it is sparse: save it with torch.save(tensor.to_dense())"},
      {"_rebuild_nested_tensor", "it is nested: save a list of its tensors"},
      {"_rebuild_meta_tensor", "it was saved on the device 'meta' and has no numbers"},
      {"torch.Complex", "it is complex: save it with torch.save(torch.view_as_real(tensor))"},
      {"torch.complex", "it is complex: save it with torch.save(torch.view_as_real(tensor))"},
      {"torch.float8", "its numbers have 8 bits: save it with torch.save(tensor.half())"},
      {"numpy", "save it with numpy.save(array), or torch.save(torch.from_numpy(array))"},
      {"_rebuild_from_type", "save it with torch.save(tensor.detach().as_subclass(torch.Tensor))"},
      {"_rebuild_parameter_with_state", "save it with torch.save(tensor.detach())"},
  };
  for (const Known& known : kKnown) {
    if (qualified.find(known.part) != std::string_view::npos) return std::string(known.remedy);
  }
  return "save it with torch.save(tensor), or a model with torch.save(model.state_dict())";
}

constexpr pickle::Vocabulary kVocabulary{kNames, remedy};

const Meaning* meaning_of(const pickle::Value& name) {
  return name.kind == pickle::ValueKind::name || name.kind == pickle::ValueKind::call ? &kMeanings[name.at] : nullptr;
}

}  // namespace

const pickle::Vocabulary& vocabulary() { return kVocabulary; }

Call call_of(const pickle::Value& name) {
  const Meaning* const found = meaning_of(name);
  return found == nullptr ? Call::none : found->call;
}

std::optional<ElementType> storage_type(const pickle::Value& name) {
  const Meaning* const found = meaning_of(name);
  return found == nullptr ? std::nullopt : found->storage;
}

bool is_untyped_storage(const pickle::Value& name) {
  const Meaning* const found = meaning_of(name);
  return found != nullptr && found->untyped;
}

std::optional<ElementType> dtype(const pickle::Value& name) {
  const Meaning* const found = meaning_of(name);
  return found == nullptr ? std::nullopt : found->dtype;
}

}  // namespace millrace::torch_file
