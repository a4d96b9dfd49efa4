#include "src/io/store/shard_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>

#include "src/base/error.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/file/positional_io.h"
#include "src/io/file/running_hash.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kAtOnce = 1 << 18;

// Reads a range of a file block by block.
class Piecewise {
 public:
  explicit Piecewise(const FileRange& bytes)
      : path_(bytes.path),
        // O_NOFOLLOW applies to the last name alone: the path of the folder may contain a link of our own.
        file_(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)),
        at_(bytes.at) {
    struct stat info {};
    if (!file_ || ::fstat(file_.get(), &info) != 0) throw Failure(system_error("it cannot be read", path_, errno));
    if (!S_ISREG(info.st_mode)) throw Failure(ErrorCode::bad_data, "not a regular file", path_);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    left_ = std::min(size - std::min(size, at_), bytes.count.value_or(size));
  }

  std::uint64_t left() const { return left_; }
  // Returns the next block; empty at the end.
  std::span<const std::byte> next() {
    piece_.resize(std::min(left_, kAtOnce));
    if (read_at(file_.get(), at_, piece_) != piece_.size()) {
      throw Failure(ErrorCode::conflict, "it became shorter while it was read", path_);
    }
    at_ += piece_.size();
    left_ -= piece_.size();
    return piece_;
  }

 private:
  const std::string path_;
  const Descriptor file_;
  std::uint64_t at_, left_ = 0;
  std::vector<std::byte> piece_;
};

std::string name_of(const FileRange& file) { return file.name.empty() ? std::string(file_name(file.path)) : file.name; }

}  // namespace

ShardBytes files_of(const std::string& folder) {
  ShardBytes out;
  std::error_code error;
  if (fs::symlink_status(folder, error).type() != fs::file_type::directory) return out;
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory() || entry.is_symlink()) names.push_back(entry.path().lexically_relative(folder));
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) out.push_back({.path = join_path(folder, name), .name = name});
  return out;
}

std::uint64_t size_of(const ShardBytes& bytes) {
  std::uint64_t out = 0;
  for (const FileRange& each : bytes) {
    if (each.is_folder) {
      out += size_of(files_of(each.path));
      continue;
    }
    struct stat info {};
    if (::lstat(each.path.c_str(), &info) != 0) {
      if (errno == ENOENT) continue;
      throw Failure(system_error("it cannot be examined", each.path, errno));
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    out += std::min(size - std::min(size, each.at), each.count.value_or(size));
  }
  return out;
}

std::uint64_t hash_of(std::span<const FileDigest> files) {
  RunningHash hash;
  for (const FileDigest& file : files) {
    hash.update(std::as_bytes(std::span(file.name.c_str(), file.name.size() + 1)));
    for (const std::uint64_t number : {file.bytes, file.hash}) hash.update(std::as_bytes(std::span(&number, 1)));
  }
  return hash.digest();
}

FileDigest digest_of_folder(std::string name, std::span<const FileDigest> files) {
  FileDigest out{std::move(name), 0, hash_of(files), 0, files.size()};
  for (const FileDigest& file : files) out.bytes += file.bytes;
  return out;
}

std::vector<FileDigest> digests_of(const ShardBytes& bytes, const std::function<void()>& check_cancelled) {
  std::vector<FileDigest> out;
  for (const FileRange& each : bytes) {
    std::string name = name_of(each);
    if (each.is_folder) {
      out.push_back(digest_of_folder(std::move(name), digests_of(files_of(each.path), check_cancelled)));
      continue;
    }
    Piecewise pieces(each);
    FileDigest& file = out.emplace_back(FileDigest{std::move(name), pieces.left(), 0, each.at});
    RunningHash hash;
    for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
      check_cancelled();
      hash.update(piece);
    }
    file.hash = hash.digest();
  }
  return out;
}

std::uint64_t hash_of(const ShardBytes& bytes, const std::function<void()>& check_cancelled) {
  return hash_of(digests_of(bytes, check_cancelled));
}

bool have_same_bytes(const ShardBytes& a, const ShardBytes& b, const std::function<void()>& check_cancelled) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (name_of(a[i]) != name_of(b[i]) || a[i].is_folder != b[i].is_folder) return false;
    if (a[i].is_folder) {
      if (!have_same_bytes(files_of(a[i].path), files_of(b[i].path), check_cancelled)) return false;
      continue;
    }
    Piecewise one(a[i]), other(b[i]);
    if (one.left() != other.left()) return false;
    for (auto piece = one.next(); !piece.empty(); piece = one.next()) {
      check_cancelled();
      const auto its = other.next();
      if (!std::equal(piece.begin(), piece.end(), its.begin(), its.end())) return false;
    }
  }
  return true;
}

}  // namespace millrace
