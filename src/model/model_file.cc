#include "src/model/model_file.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/file_reader.h"

namespace millrace::model {
namespace {

constexpr std::uint64_t kMaxModelBytes = std::uint64_t{2} << 30;

// Returns the path of a file with weights, or the reason why it may not be used.
Outcome<std::string> place_of(const std::string& model, const std::string& location) {
  const auto outside = [&] {
    return Error{ErrorCode::unsupported,
                 fmt::format("its weights are in '{}', outside the model's folder", escape_unprintable(location)),
                 model, "save the model with its weights inside, or in a file beside it"};
  };
  if (location.empty() || location.front() == '/' || location.find('\0') != std::string::npos) return outside();
  for (const std::string& part : split(location, '/'))
    if (part == "..") return outside();
  const std::string named = join_path(folder_of(model), location);
  const auto folder = real_path(folder_of(model));
  const auto real = real_path(named);
  if (!folder || !real) {
    return Error{ErrorCode::not_found,
                 fmt::format("its weights are in '{}', which was not found", escape_unprintable(location)), model,
                 "put that file beside the model"};
  }
  if (!is_inside(*real, *folder)) return outside();
  return *real;
}

}  // namespace

ModelFile open_model(const std::string& path, const std::function<bool()>& cancelled) {
  ModelFile out;
  out.path = path;
  std::unique_ptr<FileReader> file = FileReader::open(path).or_throw();
  if (file->size() > kMaxModelBytes) {
    throw Failure(ErrorCode::too_large, "too large for an ONNX file (the limit is 2 GiB)", path,
                  "save the model with its weights in a file beside it");
  }
  if (cancelled) file->set_cancelled(cancelled);
  const std::string bytes = read_text(*file, kMaxModelBytes).or_throw();
  out.onnx = read_onnx({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, path).or_throw();
  out.bytes = bytes.size();
  out.digest = hex_of_bytes(file->finish_hash().or_throw());
  std::string beside;
  for (const std::string& location : out.onnx.external) {
    const std::string place = place_of(path, location).or_throw();
    std::unique_ptr<FileReader> numbers = FileReader::open(place).or_throw();
    if (cancelled) numbers->set_cancelled(cancelled);
    out.bytes += numbers->size();
    beside += location + '\0' + hex_of_bytes(numbers->finish_hash().or_throw());
  }
  if (!beside.empty()) {
    out.digest +=
        fmt::format("{:016x}", short_hash({reinterpret_cast<const std::uint8_t*>(beside.data()), beside.size()}));
  }
  return out;
}

}  // namespace millrace::model
