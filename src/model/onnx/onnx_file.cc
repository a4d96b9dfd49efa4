#include "src/model/onnx/onnx_file.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "src/base/text.h"
#include "src/model/onnx/protobuf.h"

namespace millrace::model {
namespace {

constexpr int kDeepest = 32;
// Names of the values of TensorProto.DataType.
constexpr std::array<std::string_view, 17> kTypes = {"",       "float32", "uint8", "int8", "uint16",  "int16",
                                                     "int32",  "int64",   "",      "bool", "float16", "float64",
                                                     "uint32", "uint64",  "",      "",     "bfloat16"};

class Reading {
 public:
  explicit Reading(OnnxFile& out) : out_(out) {}

  bool model(std::span<const std::uint8_t> bytes) {
    std::string version;
    bool graph = false;
    const bool good = fields(bytes, [&](const ProtobufField& field) {
      switch (field.number) {
        case 1:
          out_.ir_version = field.value;
          return field.is_number;
        case 2:
          out_.producer = std::string(field.text());
          return true;
        case 3:
          version = std::string(field.text());
          return true;
        case 7:
          graph = true;
          return this->graph(field.bytes, 0);
        case 8:
          return operator_set(field.bytes);
        case 25:
          return function(field.bytes);
        default:
          return true;
      }
    });
    if (!version.empty()) out_.producer += (out_.producer.empty() ? "" : " ") + version;
    return good && graph && out_.ir_version > 0;
  }

 private:
  // Visits all fields. False where the message is malformed, or `visit` returns false.
  template <typename Visit>
  static bool fields(std::span<const std::uint8_t> bytes, const Visit& visit) {
    ProtobufReader reader(bytes);
    while (const auto field = reader.next())
      if (!visit(*field)) return false;
    return reader.good();
  }

  bool operator_set(std::span<const std::uint8_t> bytes) {
    std::string domain;
    std::uint64_t version = 0;
    if (!fields(bytes, [&](const ProtobufField& field) {
          if (field.number == 1) domain = std::string(field.text());
          if (field.number == 2) version = field.value;
          return true;
        })) {
      return false;
    }
    out_.operator_sets[domain == "ai.onnx" ? "" : domain] = version;
    return true;
  }

  bool function(std::span<const std::uint8_t> bytes) {
    return fields(bytes, [&](const ProtobufField& field) {
      switch (field.number) {
        case 7:
          return node(field.bytes, 1);
        case 11:  // default attributes
          return attribute(field.bytes, 1);
        default:
          return true;
      }
    });
  }

  bool graph(std::span<const std::uint8_t> bytes, int depth) {
    if (depth > kDeepest) return false;
    std::set<std::string, std::less<>> given;
    std::vector<OnnxPort> inputs;
    const bool outermost = depth == 0;
    if (!fields(bytes, [&](const ProtobufField& field) {
          switch (field.number) {
            case 1:
              return node(field.bytes, depth);
            case 5: {
              std::string name;
              if (!tensor(field.bytes, name)) return false;
              given.insert(std::move(name));
              return true;
            }
            case 11:
            case 12: {
              if (!outermost) return true;
              OnnxPort port;
              if (!value_info(field.bytes, port)) return false;
              (field.number == 11 ? inputs : out_.outputs).push_back(std::move(port));
              return true;
            }
            case 15:
              return sparse_tensor(field.bytes);
            default:
              return true;
          }
        })) {
      return false;
    }
    for (OnnxPort& port : inputs)
      if (!given.contains(port.name)) out_.inputs.push_back(std::move(port));
    return true;
  }

  bool node(std::span<const std::uint8_t> bytes, int depth) {
    std::string name, kind, domain;
    if (!fields(bytes, [&](const ProtobufField& field) {
          switch (field.number) {
            case 3:
              name = std::string(field.text());
              return true;
            case 4:
              kind = std::string(field.text());
              return true;
            case 5:
              return attribute(field.bytes, depth);
            case 7:
              domain = std::string(field.text());
              return true;
            default:
              return true;
          }
        })) {
      return false;
    }
    ++out_.nodes;
    if (!domain.empty() && domain != "ai.onnx") kind.insert(0, domain + ".");
    out_.operators.emplace(std::move(kind), std::move(name));
    return true;
  }

  bool attribute(std::span<const std::uint8_t> bytes, int depth) {
    return fields(bytes, [&](const ProtobufField& field) {
      std::string name;
      switch (field.number) {
        case 5:
        case 10:
          return tensor(field.bytes, name);
        case 6:
        case 11:
          return graph(field.bytes, depth + 1);
        case 22:
        case 23:
          return sparse_tensor(field.bytes);
        default:
          return true;
      }
    });
  }

  bool tensor(std::span<const std::uint8_t> bytes, std::string& name) {
    return fields(bytes, [&](const ProtobufField& field) {
      if (field.number == 8) name = std::string(field.text());
      return field.number != 13 || external(field.bytes);
    });
  }

  bool sparse_tensor(std::span<const std::uint8_t> bytes) {
    return fields(bytes, [&](const ProtobufField& field) {
      std::string name;
      return (field.number != 1 && field.number != 2) || tensor(field.bytes, name);
    });
  }

  bool external(std::span<const std::uint8_t> bytes) {
    std::string key, value;
    if (!fields(bytes, [&](const ProtobufField& field) {
          if (field.number == 1) key = std::string(field.text());
          if (field.number == 2) value = std::string(field.text());
          return true;
        })) {
      return false;
    }
    if (key == "location") out_.external.insert(std::move(value));
    return true;
  }

  static bool value_info(std::span<const std::uint8_t> bytes, OnnxPort& out) {
    return fields(bytes, [&](const ProtobufField& field) {
      if (field.number == 1) out.name = std::string(field.text());
      return field.number != 2 || fields(field.bytes, [&](const ProtobufField& type) {
               return type.number != 1 || tensor_type(type.bytes, out);
             });
    });
  }

  static bool tensor_type(std::span<const std::uint8_t> bytes, OnnxPort& out) {
    return fields(bytes, [&](const ProtobufField& field) {
      if (field.number == 1 && field.value < kTypes.size()) out.type = kTypes[field.value];
      if (field.number != 2) return true;
      out.shaped = true;
      return fields(field.bytes, [&](const ProtobufField& side) {
        if (side.number != 1) return true;
        std::int64_t sides = kAnySide;
        const bool good = fields(side.bytes, [&](const ProtobufField& value) {
          if (value.number == 1 && value.is_number) sides = static_cast<std::int64_t>(value.value);
          return true;
        });
        out.shape.push_back(sides < 0 ? kAnySide : sides);
        return good;
      });
    });
  }

  OnnxFile& out_;
};

}  // namespace

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const std::int64_t side : shape)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", side == kAnySide ? "?" : std::to_string(side));
  return "[" + out + "]";
}

Outcome<OnnxFile> read_onnx(std::span<const std::uint8_t> bytes, const std::string& path) {
  OnnxFile out;
  if (!Reading(out).model(bytes)) {
    return Error{ErrorCode::bad_data, "this is not an ONNX model, or its end is missing", path,
                 "export it again, for example with torch.onnx.export()"};
  }
  return out;
}

}  // namespace millrace::model
