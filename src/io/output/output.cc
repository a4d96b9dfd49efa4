#include "src/io/output/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include "src/base/standard_streams.h"
#include "src/base/text.h"
#include "src/io/file/trusted_file.h"

namespace millrace {
namespace {

std::string resolve_path(const std::string& path) { return real_path(path).value_or(path); }

// Returns one form for all spellings of a path: the folder without links, then the name.
std::string normalize_path(const std::string& path) {
  return join_path(resolve_path(folder_of(path)), file_name(path));
}

// Returns the descriptor that a name means: "-", /dev/stdout, /dev/fd/3. Opening it by name would write a file from its
// beginning, over the output of other holders of the descriptor.
std::optional<int> parse_descriptor_path(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int fd = -1;
    const char* const end = path.data() + path.size();
    const auto [at, problem] = std::from_chars(path.data() + folder.size(), end, fd);
    if (problem == std::errc() && at == end && fd >= 0) return fd;
  }
  return std::nullopt;
}

// True where this user may replace the file. In a folder with the sticky bit (/tmp), only a file's owner may.
bool can_replace_file(const std::string& path, const struct stat& info) {
  struct stat folder {};
  const uid_t me = ::geteuid();
  if (me == 0 || info.st_uid == me || ::stat(folder_of(path).c_str(), &folder) != 0) return true;
  return (folder.st_mode & S_ISVTX) == 0 || folder.st_uid == me;
}

}  // namespace

OutputTarget OutputTarget::overwrite_any_file(const std::string& path) {
  OutputTarget output;
  output.path_ = path;
  return output;
}

void OutputTarget::require_free_space(Bytes bytes) const {
  if (stream_ || path_.empty()) return;
  const auto slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error || space.available >= bytes.count) return;
  throw Failure(ErrorCode::io,
                fmt::format("not enough free space ({} needed, {} free)", format_bytes(bytes),
                            format_bytes(Bytes{space.available})),
                path_, "free some space, or choose an output on another disk");
}

void OutputTarget::write(std::string_view text) const {
  OutputFile file(*this);
  file.write(text);
  file.commit();
}

void OutputTarget::write(std::span<const std::string> pieces) const {
  OutputFile file(*this);
  for (const std::string& piece : pieces) file.write(piece);
  file.commit();
}

OutputFile::OutputFile(OutputTarget output) : output_(std::move(output)) {
  if (!output_.is_stream()) {
    file_ = std::make_unique<AtomicFile>(output_.path(), output_.overwrite_policy_, output_.readers());
  }
}

void OutputFile::write(std::string_view bytes) {
  if (file_) return file_->write(bytes);
  if (!stream_) {
    const std::string examined = output_.pipe_ ? fmt::format("/proc/self/fd/{}", output_.pipe_->get()) : "";
    stream_ = Descriptor(output_.descriptor_ >= 0 ? ::dup(output_.descriptor_)
                                                  : ::open(examined.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!stream_ && errno == EINTR) {
      throw Failure(interrupted("no program opened it for reading", escape_unprintable(output_.path())));
    }
    if (!stream_) throw Failure(system_error("cannot be opened", escape_unprintable(output_.path()), errno));
  }
  if (output_.descriptor_ == STDOUT_FILENO) return write_stdout(bytes);
  write_all(stream_.get(), bytes, output_.path());
}

void OutputFile::sync() {
  if (file_) file_->sync();
}

void OutputFile::commit() {
  if (file_) return file_->commit();
  if (!stream_) write("");  // the reader of a pipe must see its end
  stream_ = Descriptor();
}

void OutputRegistry::add_input(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) inodes_.insert({info.st_dev, info.st_ino});
  inputs_.insert(normalize_path(path));
  reads_.push_back(path);
}

void OutputRegistry::add_kept_file(const std::string& path) {
  add_input(path);
  writes_.push_back(folder_of(path));
}

void OutputRegistry::add_input_folder(const std::string& path, std::function<bool(const std::string&)> is_input) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;  // the job reports that
  if (!S_ISDIR(info.st_mode)) return add_input(path);
  folders_.push_back({resolve_path(path), std::move(is_input)});
  reads_.push_back(path);
}

void OutputRegistry::never_replace(std::function<bool(const std::string&)> is_input) {
  folders_.push_back({"/", std::move(is_input)});
}

bool OutputRegistry::is_input(const std::string& path, const FileState& state) const {
  if (inodes_.count({state.device, state.inode}) > 0) return true;
  const std::string name = normalize_path(path);
  for (const Folder& folder : folders_) {
    if (is_inside(name, folder.path) && folder.is_input(name)) return true;
  }
  return false;
}

OutputTarget OutputRegistry::add(const std::string& option, const std::string& name, const OutputKind& kind) {
  OutputTarget output;
  if (name.empty()) return output;
  output.path_ = name;
  output.readers_ = kind.readers;
  const auto descriptor = parse_descriptor_path(name);
  if (descriptor) {
    const int flags = ::fcntl(*descriptor, F_GETFL);
    const bool writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    if (!writable && *descriptor == STDOUT_FILENO) {
      throw Failure(ErrorCode::standard_output, "it is closed", "standard output", "choose a file as the output");
    }
    if (!writable)
      throw Failure(system_error("cannot be written", escape_unprintable(name), flags < 0 ? errno : EBADF));
    output.stream_ = true;
    output.descriptor_ = *descriptor;
  } else {
    reject_inside_stores(option, name, normalize_path(name));
    // The folder is recorded before the output can be refused: a job may know better what lies there.
    writes_.push_back(folder_of(name));
    check_target(kind, output);
    if (output.is_stream()) {
      writes_.pop_back();
      streams_.push_back(name);
    }
  }
  struct stat info {};
  const bool device = output.is_stream() && !descriptor && ::stat(name.c_str(), &info) == 0 && S_ISCHR(info.st_mode);
  const std::string form = descriptor ? fmt::format("descriptor {}", *descriptor) : normalize_path(name);
  if (!device) reject_duplicate_name(option, name, form);
  return output;
}

void OutputRegistry::reject_duplicate_name(const std::string& option, const std::string& name,
                                           const std::string& form) {
  if (names_.insert(form).second) return;
  throw Failure(ErrorCode::usage, "two outputs have the same name", option + " " + escape_unprintable(name),
                "choose another name");
}

void OutputRegistry::reject_inside_stores(const std::string& option, const std::string& name,
                                          const std::string& form) const {
  for (const std::string& store : stores_) {
    if (!is_inside(form, store) || names_.count(form) > 0) continue;
    throw Failure(ErrorCode::usage, "it is inside another output", option + " " + escape_unprintable(name),
                  "choose another name");
  }
}

void OutputRegistry::reserve_path(const std::string& option, const std::string& name) {
  std::string bare = name;
  while (bare.size() > 1 && bare.ends_with('/')) bare.pop_back();
  if (bare.empty()) return;
  reject_inside_stores(option, name, normalize_path(bare));
  reject_duplicate_name(option, name, normalize_path(bare));
  writes_.push_back(folder_of(bare));
  // The name itself may be a link to a folder elsewhere.
  writes_.push_back(bare);
}

void OutputRegistry::add_store(const std::string& option, const std::string& name) {
  reserve_path(option, name);
  const std::string form = normalize_path(name.substr(0, std::max<std::size_t>(1, name.find_last_not_of('/') + 1)));
  for (const std::string& store : {form, form + ".shards"}) {
    stores_.push_back(store);
    for (const std::string& input : inputs_) {
      if (input == form || !is_inside(input, store)) continue;
      throw Failure(ErrorCode::usage, "this input is inside the output, which the run replaces",
                    escape_unprintable(input), "choose another OUTPUT, or move the input");
    }
  }
}

bool OutputRegistry::is_own_output(const std::string& name, const OutputKind& kind) const {
  Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
  auto reader = FileReader::make(std::move(file), name, FileReader::Hashing::off);
  return reader && kind.is_ours && kind.is_ours(**reader);
}

void OutputRegistry::check_target(const OutputKind& kind, OutputTarget& output) const {
  const std::string& path = output.path_;
  const auto refuse = [&](const std::string& what, const std::string& remedy = "choose another output") {
    return Failure(ErrorCode::conflict, what, escape_unprintable(path), remedy);
  };
  if (path.ends_with('/'))
    throw Failure(ErrorCode::usage, "it names a folder", escape_unprintable(path), "give the name of a file");
  if (inputs_.count(normalize_path(path)) > 0) throw refuse("it is one of the inputs, which are never overwritten");
  if (is_in_data_folder(normalize_path(path)))
    throw refuse("it is in the folder where this program keeps its catalog and journals");
  struct stat info {};
  const bool there = ::lstat(path.c_str(), &info) == 0;
  if (!there && errno != ENOENT) throw Failure(system_error("cannot be written", escape_unprintable(path), errno));
  if (there && S_ISLNK(info.st_mode)) {
    struct stat target {};
    if (::stat(path.c_str(), &target) != 0 || (!S_ISCHR(target.st_mode) && !S_ISFIFO(target.st_mode))) {
      const auto file = real_path(path);
      throw refuse("it is a symbolic link, and outputs neither follow nor replace links",
                   file ? "name the file itself: " + escape_unprintable(*file)
                        : "its target does not exist: remove the link, or choose another output");
    }
    info = target;
  }
  if (there && (S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode))) {
    if (::access(path.c_str(), W_OK) != 0)
      throw Failure(system_error("cannot be written", escape_unprintable(path), errno));
    // The pipe or device is held from here on, so that another file under this name is not written into.
    output.pipe_ = std::make_shared<const Descriptor>(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat held {};
    if (!*output.pipe_ || ::fstat(output.pipe_->get(), &held) != 0 || held.st_ino != info.st_ino ||
        held.st_dev != info.st_dev) {
      throw refuse("it was replaced while it was checked", "run the same command again");
    }
    output.stream_ = true;
    return;
  }
  if (there && S_ISDIR(info.st_mode)) throw refuse("it already exists and is a folder");
  if (there && !S_ISREG(info.st_mode)) throw refuse("it is a disk or a socket, which is not supported as an output");
  output.overwrite_policy_.any_file = false;
  if (there) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    const auto state = file ? state_of_descriptor(file.get()) : std::nullopt;
    if (!state) {
      throw Failure(system_error("it already exists and cannot be read, so it is not overwritten",
                                 escape_unprintable(path), errno));
    }
    if (is_input(path, *state)) throw refuse("it is one of the inputs, which are never overwritten");
    if (!can_replace_file(path, info)) throw refuse("it already exists and belongs to another user");
    output.overwrite_policy_.examined = *state;
    auto reader = FileReader::make(std::move(file), path, FileReader::Hashing::off);
    if (!reader) throw Failure(reader.error());
    if (const char* kept = classify_kept_file((*reader)->peek()); kept != nullptr) {
      throw refuse(fmt::format("it is {}, which is never overwritten", kept));
    }
    const std::string what = describe_file_type(path, (*reader)->peek());
    const bool write_protected = (state->mode & 0222) == 0;
    if (write_protected && !options_.overwrite) {
      throw refuse("it already exists and is write-protected",
                   "choose another output, or add --overwrite to replace it");
    }
    if (state->size > 0 && !options_.overwrite && !(kind.is_ours && kind.is_ours(**reader))) {
      throw refuse(fmt::format("it already exists and may not be an output of this program (expected {}, found {})",
                               kind.name, what),
                   "choose another output, or add --overwrite to replace it");
    }
  }
  if (!options_.check_writable) return;
  try {
    const AtomicFile proof(path, output.overwrite_policy_, output.readers_);
  } catch (const Failure& failure) {
    Error error = failure.error();
    if (error.code == ErrorCode::not_found) error.remedy = "create the folder first";
    throw Failure(std::move(error));
  }
}

}  // namespace millrace
