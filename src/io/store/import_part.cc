#include "src/io/store/import_part.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <vector>

#include "src/base/paths.h"
#include "src/io/file/at_offset.h"
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
  rename_file(part, path_in(to, name));
  return true;
}

bool same_file(const std::string& from, const std::string& name, const std::string& to) {
  Descriptor theirs = open_in(from, name), ours = open_in(to, name);
  if (!theirs || !ours) return true;
  const auto a = FileReader::of(std::move(theirs), path_in(from, name), FileReader::Hashing::off).or_throw();
  const auto b = FileReader::of(std::move(ours), path_in(to, name), FileReader::Hashing::off).or_throw();
  return same_contents(*a, *b).or_throw();
}

bool same_folder(const std::string& from, const std::string& name, const std::string& to) {
  std::error_code error;
  const std::string theirs = path_in(from, name), ours = path_in(to, name);
  if (fs::symlink_status(theirs, error).type() != fs::file_type::directory) return true;
  if (fs::symlink_status(ours, error).type() != fs::file_type::directory) return true;
  const auto count = [](const std::string& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  if (count(theirs) != count(ours)) return false;
  for (const auto& entry : fs::directory_iterator(theirs)) {
    const std::string file = entry.path().filename();
    if (!open_in(ours, file) || !same_file(theirs, file, ours)) return false;
  }
  return true;
}

bool same_bytes(const std::string& from, const std::string& name, const std::string& to, std::uint64_t at,
                std::uint64_t bytes) {
  const Descriptor theirs = open_in(from, name), ours = open_in(to, name);
  if (!theirs || !ours) return true;
  constexpr std::uint64_t kTogether = 1 << 16;
  std::vector<std::byte> a, b;
  for (std::uint64_t done = 0; done < bytes; done += a.size()) {
    a.resize(std::min(bytes - done, kTogether));
    b.resize(a.size());
    if (read_at(theirs.get(), at + done, a) != a.size() || read_at(ours.get(), at + done, b) != b.size() || a != b)
      return false;
  }
  return true;
}

}  // namespace millrace
