#include "src/model/runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "src/io/process/helper_path.h"

namespace millrace::model {
namespace {

std::string remedy() {
  if (is_in_python_package())
    return "run pip install 'millrace[models]', which installs OpenVINO beside the package millrace";
  return "in a checkout, run ./dev build, which installs OpenVINO; otherwise build with -DMILLRACE_OPENVINO=FOLDER, "
         "the folder 'openvino' of its Python wheel";
}

}  // namespace

Outcome<const Backend*> open_backend(const std::string& library) {
  if (::access(library.c_str(), R_OK) != 0)
    return Error{ErrorCode::unavailable, "the runtime for models is not installed", library, remedy()};
  // The library is never closed, because its threads may outlive its users.
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    // OpenVINO's own libraries were moved or removed.
    return Error{ErrorCode::unavailable, fmt::format("the runtime for models cannot be opened: {}", ::dlerror()),
                 library, remedy()};
  }
  const auto get = reinterpret_cast<const Backend* (*)()>(::dlsym(handle, kBackendSymbol));
  const Backend* const out = get == nullptr ? nullptr : get();
  if (out == nullptr || out->version != kBackendVersion)
    return Error{ErrorCode::unavailable, "the runtime for models belongs to another version of this program", library,
                 remedy()};
  return out;
}

Outcome<const Backend*> runtime() {
  static const Outcome<const Backend*> found = open_backend(find_helper("libmillrace-openvino.so"));
  return found;
}

}  // namespace millrace::model
