#include "src/io/store/hdf5_reader.h"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "src/base/text.h"
#include "src/io/process/helper_path.h"
#include "src/io/process/socket_bytes.h"

namespace millrace::hdf5 {
namespace {

// Timeout. A damaged file can make the library loop for ever; no healthy file takes longer for a block of rows.
constexpr int kTimeoutSeconds = 60;
// Memory limit before the helper reports how much a dataset needs.
constexpr Bytes kDescribeMemory = 256_MiB;

// Takes a shared lock, as the library does and under the same conditions. Programs that write with the HDF5 library
// hold a lock meanwhile, and readers hold one against them, while the descriptor is open anywhere. Many file systems
// have no locks.
Outcome<void> lock(int fd, const std::string& path) {
  const char* const setting = std::getenv("HDF5_USE_FILE_LOCKING");
  const std::string_view wish = setting == nullptr ? "" : setting;
  if (wish == "FALSE" || wish == "0" || ::flock(fd, LOCK_SH | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK) {
    return Error{ErrorCode::unsupported, "another program has it open for writing", escape_unprintable(path),
                 "close it in that program, or give a copy of it"};
  }
  if (wish != "TRUE" && wish != "1") return {};
  return system_error("cannot be locked, which HDF5_USE_FILE_LOCKING requires", escape_unprintable(path), errno);
}

// Returns a descriptor for the helper alone. A file that is no longer open is opened by its path, if it is unchanged.
Outcome<Descriptor> open_for_helper(const OpenedFile& file, const FileReader* open) {
  if (open == nullptr) {
    const auto now = FileReader::open(file.path, FileReader::Hashing::off);
    if (!now) return now.error();
    const auto state = state_of_descriptor((*now)->descriptor());
    if (state && state->same(file.state)) return open_for_helper(file, now->get());
    return Error{ErrorCode::conflict, "it changed while it was read", escape_unprintable(file.path),
                 "run the same command again"};
  }
  auto own = open->reopen();
  if (!own) return own.error();
  if (auto locked = lock(own->get(), file.path); !locked.ok()) return locked.error();
  return own;
}

Outcome<OpenedFile> opened(const FileReader& file) {
  const auto state = state_of_descriptor(file.descriptor());
  if (!state) return system_error("cannot be examined", escape_unprintable(file.path()), errno);
  return OpenedFile{file.path(), *state};
}

}  // namespace

Error DatasetReader::describe_exit(const std::string& path) {
  constexpr const char* kRemedy = "the file may be damaged; h5dump can show where";
  Error out =
      helper_->describe_exit({"its reader", "the HDF5 library crashed on it", kRemedy, "allow less with --memory"});
  helper_.reset();
  if (out.code == ErrorCode::cancelled) return out;
  out.subject = path;
  return out;
}

Outcome<void> DatasetReader::send(const helper::Request& request, const OpenedFile& file, const FileReader* open,
                                  const std::string& name, const std::string& type) {
  Descriptor fd;
  if (!given_ || given_->path != file.path || !given_->state.same(file.state)) {
    auto found = open_for_helper(file, open);
    if (!found) return found.error();
    fd = std::move(found).value();
    given_ = file;
  }
  if (send_with_descriptor(helper_->socket(), &request, sizeof request, fd.get()) &&
      helper_->send(name.data(), name.size()) && helper_->send(type.data(), type.size())) {
    return {};
  }
  return describe_exit(file.path);
}

Outcome<void> DatasetReader::start(const std::string& path) {
  const MutexLock lock(mutex_);
  return ensure_helper(path);
}

Outcome<void> DatasetReader::ensure_helper(const std::string& path) {
  // A helper that died while it was idle is no fault of this file.
  if (helper_ && helper_->is_alive()) return {};
  given_.reset();
  helper_ = ChildProcess::start(find_helper("millrace-hdf5"));
  if (!helper_) {
    return Error{ErrorCode::unavailable, "the helper millrace-hdf5 cannot be started", path,
                 helper_remedy("millrace-hdf5")};
  }
  helper_->set_timeout(kTimeoutSeconds);
  helper_->set_cancelled(cancelled_);
  return {};
}

Outcome<DatasetReader::Reply> DatasetReader::ask(helper::Request request, const OpenedFile& file,
                                                 const FileReader* open, const std::string& name,
                                                 const std::string& type, const Room& room) {
  const std::string& path = file.path;
  const MutexLock lock(mutex_);
  if (auto ready = ensure_helper(path); !ready.ok()) return ready.error();
  request.dataset_bytes = static_cast<std::uint32_t>(name.size());
  request.type_bytes = static_cast<std::uint32_t>(type.size());
  request.max_memory = max_memory_.count == 0 ? 0 : (max_memory_ + kDescribeMemory).count;
  if (auto sent = send(request, file, open, name, type); !sent.ok()) return sent.error();
  Reply out;
  if (!helper_->receive(&out.about, sizeof out.about)) return describe_exit(path);
  const bool done = out.about.error_code == helper::kDone;
  const std::uint64_t wanted = done && room.values != nullptr ? request.count * request.columns : 0;
  const std::uint64_t bytes = done && room.rows != nullptr ? request.count * request.row_bytes : 0;
  const std::uint32_t most =
      done && request.kind == helper::RequestKind::attributes ? 2 * helper::kMaxAttributeText : 2 * helper::kMaxText;
  if (out.about.text_bytes > most || out.about.values != wanted || out.about.bytes != bytes) {
    helper_.reset();
    return Error{ErrorCode::crashed, "its reader sent an invalid answer", path, ""};
  }
  out.text.resize(out.about.text_bytes);
  if (room.rows != nullptr) room.rows->resize(bytes);
  if (!helper_->receive(out.text.data(), out.text.size()) || !helper_->receive(room.values, wanted * sizeof(double)) ||
      !helper_->receive(room.rows == nullptr ? nullptr : room.rows->data(), bytes))
    return describe_exit(path);
  if (out.about.error_code == helper::kDone) return out;
  const std::size_t end = std::min(out.text.find('\0'), out.text.size());
  const std::string remedy = end < out.text.size() ? out.text.substr(end + 1) : "";
  const auto code = static_cast<ErrorCode>(out.about.error_code);
  const bool known = code == ErrorCode::unsupported || code == ErrorCode::out_of_memory;
  return Error{known ? code : ErrorCode::bad_data, escape_unprintable(out.text.substr(0, end)),
               name.empty() ? path : path + ":" + name, escape_unprintable(remedy)};
}

Outcome<std::vector<std::string>> DatasetReader::datasets(const FileReader& file) {
  const auto which = opened(file);
  if (!which) return which.error();
  helper::Request request{};
  request.kind = helper::RequestKind::list;
  request.memory_limit = kDescribeMemory.count;
  const auto reply = ask(request, *which, &file, "", "", {});
  if (!reply) return reply.error();
  std::vector<std::string> out = split(reply->text, '\0');
  if (!out.empty()) out.pop_back();
  return out;
}

Outcome<DatasetInfo> DatasetReader::describe(const FileReader& file, const std::string& name) {
  const auto which = opened(file);
  if (!which) return which.error();
  helper::Request request{};
  request.kind = helper::RequestKind::describe;
  request.memory_limit = kDescribeMemory.count;
  const auto reply = ask(request, *which, &file, name, "", {});
  if (!reply) return reply.error();
  const helper::Answer& about = reply->about;
  if (about.dimensions < 1 || about.dimensions > 3 || about.chunk_bytes > std::uint64_t{1} << 48) {
    return Error{ErrorCode::crashed, "its reader sent an invalid answer", file.path(), ""};
  }
  // A row of chunks stays in memory. One chunk is also there in its stored form, and once more between two filters.
  return DatasetInfo{*which,
                     name,
                     {about.shape, about.shape + about.dimensions},
                     reply->text,
                     kIdleMemory + Bytes{3 * about.chunk_bytes}};
}

void DatasetReader::read(const DatasetInfo& series, std::size_t columns, std::uint64_t first, std::size_t count,
                         double* out) {
  helper::Request request{};
  request.kind = helper::RequestKind::read;
  request.columns = static_cast<std::uint32_t>(columns);
  request.first = first;
  request.count = count;
  request.memory_limit = (series.memory + kDescribeMemory).count;
  const auto reply = ask(request, series.file, nullptr, series.name, "", {.values = out});
  if (!reply) throw Failure(reply.error());
}

Outcome<Attributes> DatasetReader::attributes(const FileReader& file) {
  const auto which = opened(file);
  if (!which) return which.error();
  helper::Request request{};
  request.kind = helper::RequestKind::attributes;
  request.memory_limit = (kDescribeMemory + Bytes{4ULL * helper::kMaxAttributeText}).count;
  const auto reply = ask(request, *which, &file, "", "", {});
  if (!reply) return reply.error();
  const std::vector<std::string> texts = split(reply->text, '\0');
  Attributes out;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) out.emplace_back(texts[i], texts[i + 1]);
  return out;
}

void DatasetReader::read_stored(const FileReader& file, const StoredDataset& what, std::uint64_t first,
                                std::uint64_t count, std::vector<std::uint8_t>& out) {
  const OpenedFile which = opened(file).or_throw();
  helper::Request request{};
  request.kind = helper::RequestKind::stored_rows;
  request.first = first;
  request.count = count;
  request.rows = what.rows;
  request.row_bytes = what.row_bytes;
  request.memory_limit = kDescribeMemory.count;
  const auto reply = ask(request, which, &file, what.name, what.type, {.rows = &out});
  if (!reply) throw Failure(reply.error());
}

Outcome<Attributes> attributes_of(DatasetReader& reader, const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  return reader.attributes(**file);
}

}  // namespace millrace::hdf5
