#include "src/io/store/import_shard.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "src/base/paths.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/directory_entry.h"
#include "src/io/file/file_reader.h"
#include "src/io/store/shard_bytes.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Failure(system_error("it cannot be created", folder, error.value()));
}

// Returns an empty descriptor if the file does not exist.
Descriptor open_in(const std::string& folder, const std::string& name) {
  // O_NOFOLLOW applies to the last name alone: the path of the folder may contain a link of our own.
  Descriptor out(::open(join_path(folder, name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!out && errno != ENOENT) throw Failure(system_error("it cannot be read", join_path(folder, name), errno));
  return out;
}

}  // namespace

bool import_file(const std::string& from, const std::string& name, const std::string& to,
                 const AtomicFile::ShardOptions& shard) {
  Descriptor opened = open_in(from, name);
  if (!opened) return false;
  auto file = FileReader::make(std::move(opened), join_path(from, name), FileReader::Hashing::off);
  if (!file) throw Failure(file.error());
  const std::string path = join_path(to, name);
  make_folder(folder_of(path));
  AtomicFile out(path, shard);
  for (auto bytes = (*file)->next(); !bytes.empty(); bytes = (*file)->next()) out.write(std::as_bytes(bytes));
  if ((*file)->failed()) throw Failure((*file)->error());
  out.commit();
  return true;
}

void publish_folder(const std::string& finished, const std::string& path) {
  const auto to_here = [&] { return rename_new(AT_FDCWD, finished.c_str(), AT_FDCWD, path.c_str()); };
  int reason = to_here();
  if (reason == EEXIST || reason == ENOTEMPTY) {
    std::error_code error;
    if (have_same_bytes(files_of(finished), files_of(path), [] {})) {
      fs::remove_all(finished, error);
      return;
    }
    fs::remove_all(path, error);
    reason = to_here();
  }
  if (reason != 0) throw Failure(system_error("it cannot be renamed", finished, reason));
  sync_folder(folder_of(path));
}

bool import_folder(const std::string& from, const std::string& name, const std::string& to,
                   const std::string& work_folder) {
  std::error_code error;
  if (fs::symlink_status(join_path(from, name), error).type() != fs::file_type::directory) return false;
  const std::string part = join_path(work_folder, unique_temporary_name());
  make_folder(part);
  for (const auto& entry : fs::directory_iterator(join_path(from, name))) {
    import_file(join_path(from, name), entry.path().filename(), part, {work_folder});
  }
  sync_folder(part);
  publish_folder(part, join_path(to, name));
  return true;
}

}  // namespace millrace
