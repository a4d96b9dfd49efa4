#include "src/io/store/import_part.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "src/base/paths.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Failure(system_error("it cannot be created", folder, error.value()));
}

// Nothing where it is not there.
Descriptor open_in(const std::string& folder, const std::string& name) {
  // The last name alone: what the folder is reached by may be a link of our own.
  Descriptor out(::open(path_in(folder, name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!out && errno != ENOENT) throw Failure(system_error("it cannot be read", path_in(folder, name), errno));
  return out;
}

}  // namespace

bool import_file(const std::string& from, const std::string& name, const std::string& to) {
  Descriptor opened = open_in(from, name);
  if (!opened) return false;
  auto file = FileReader::of(std::move(opened), path_in(from, name), FileReader::Hashing::off);
  if (!file) throw Failure(file.error());
  const std::string path = path_in(to, name);
  make_folder(folder_of(path));
  AtomicFile out(path, AtomicFile::Temporary::part);
  for (auto bytes = (*file)->next(); !bytes.empty(); bytes = (*file)->next()) out.write(std::as_bytes(bytes));
  if ((*file)->failed()) throw Failure((*file)->error());
  out.commit();
  return true;
}

bool import_folder(const std::string& from, const std::string& name, const std::string& to) {
  std::error_code error;
  if (fs::symlink_status(path_in(from, name), error).type() != fs::file_type::directory) return false;
  const std::string part = path_in(to, name) + ".part";
  fs::remove_all(part, error);
  make_folder(part);
  for (const auto& entry : fs::directory_iterator(path_in(from, name))) {
    import_file(path_in(from, name), entry.path().filename(), part);
  }
  sync_folder(part);
  fs::remove_all(path_in(to, name), error);  // of which something is missing
  rename_file(part, path_in(to, name));
  return true;
}

}  // namespace millrace
