#include "src/io/file/folder_names.h"

#include <dirent.h>
#include <fcntl.h>

#include <memory>
#include <string_view>

#include "src/io/file/directory_entry.h"

namespace millrace {

std::vector<std::string> list_names(int folder) {
  std::vector<std::string> out;
  Descriptor opened(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> listed(opened ? ::fdopendir(opened.get()) : nullptr, ::closedir);
  if (!listed) return out;
  opened.release();
  while (const dirent* entry = ::readdir(listed.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  return out;
}

}  // namespace millrace
