#include "src/io/store/helper/plugins.h"

#include <H5PLextern.h>
#include <dlfcn.h>
#include <hdf5.h>
// Later releases declare the filter interface here.
#if __has_include(<H5Zdevelop.h>)
#include <H5Zdevelop.h>
#endif

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace millrace::hdf5::helper {
namespace {

std::vector<std::string> folders() {
  unsigned count = 0;
  std::vector<std::string> out;
  if (H5PLsize(&count) < 0) return out;
  for (unsigned i = 0; i < count; ++i) {
    const ssize_t length = H5PLget(i, nullptr, 0);
    if (length <= 0) continue;
    std::string folder(static_cast<std::size_t>(length) + 1, '\0');
    if (H5PLget(i, folder.data(), folder.size()) < 0) continue;
    folder.resize(static_cast<std::size_t>(length));
    out.push_back(std::move(folder));
  }
  return out;
}

// Returns the plugins that the library would try, sorted, so that the order does not change.
std::vector<std::string> libraries_of(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    std::error_code gone;
    if (name.starts_with("lib") && name.find(".so") != std::string::npos && !at->is_directory(gone)) {
      out.push_back(at->path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

void load(const std::string& library) {
  // RTLD_NOW resolves all symbols at once: a missing one would otherwise end the helper at its first call.
  void* const plugin = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return;
  const auto type = reinterpret_cast<decltype(&H5PLget_plugin_type)>(::dlsym(plugin, "H5PLget_plugin_type"));
  const auto info = reinterpret_cast<decltype(&H5PLget_plugin_info)>(::dlsym(plugin, "H5PLget_plugin_info"));
  if (type != nullptr && info != nullptr && type() == H5PL_TYPE_FILTER) {
    const auto* const filter = static_cast<const H5Z_class2_t*>(info());
    // If two filters have the same number, the first one is used, as in the library.
    if (filter != nullptr && filter->version == H5Z_CLASS_T_VERS && H5Zfilter_avail(filter->id) <= 0 &&
        H5Zregister(filter) >= 0)
      return;
  }
  ::dlclose(plugin);
}

}  // namespace

void load_plugins() {
  if (H5open() < 0) return;
  // Otherwise the library would look for a plugin each time a filter is missing.
  H5PLset_loading_state(0);
  for (const std::string& folder : folders()) {
    for (const std::string& library : libraries_of(folder)) load(library);
  }
}

}  // namespace millrace::hdf5::helper
