#include "src/io/store/hdf5_reader.h"

#include <algorithm>

#include "src/base/text.h"

namespace millrace::hdf5 {
namespace {

// A damaged file can make the library loop for ever. No healthy one takes longer for a block of rows.
constexpr int kPatienceSeconds = 60;
// Before the helper says how much a dataset takes.
constexpr Bytes kLookingMemory = 256_MiB;

}  // namespace

Error Reader::obituary(const std::string& path) {
  constexpr const char* kRemedy = "the file is damaged; h5dump may say where";
  Error out = helper_->obituary({"its reader", "the HDF5 library crashed on it", kRemedy, "allow less with --memory"});
  helper_.reset();
  if (out.code == ErrorCode::cancelled) {
    return {out.code, "interrupted; the same command goes on where this one stopped", "", ""};
  }
  out.subject = path;
  return out;
}

Outcome<Reader::Reply> Reader::ask(helper::Request request, const std::string& path, const std::string& name,
                                   double* values) {
  const std::lock_guard lock(mutex_);
  // One that died while it was idle is no fault of this file's.
  if (helper_ && !helper_->alive()) helper_.reset();
  if (!helper_) {
    helper_ = Child::start(beside_program("millrace-hdf5"));
    if (helper_) helper_->set_patience(kPatienceSeconds);
    if (helper_) helper_->set_cancelled(cancelled_);
  }
  if (!helper_) {
    return Error{ErrorCode::unavailable, "the helper millrace-hdf5 cannot be started", path,
                 "check that it lies beside the millrace program"};
  }
  request.path_bytes = static_cast<std::uint32_t>(path.size());
  request.dataset_bytes = static_cast<std::uint32_t>(name.size());
  Reply out;
  if (!helper_->send(&request, sizeof request) || !helper_->send(path.data(), path.size()) ||
      !helper_->send(name.data(), name.size()) || !helper_->receive(&out.about, sizeof out.about)) {
    return obituary(path);
  }
  const std::uint64_t wanted =
      request.kind == helper::Kind::read && out.about.error_code == helper::kDone ? request.count * request.columns : 0;
  if (out.about.text_bytes > 2 * helper::kMostText || out.about.values != wanted) {
    helper_.reset();
    return Error{ErrorCode::crashed, "its reader sent nonsense", path, ""};
  }
  out.text.resize(out.about.text_bytes);
  if (!helper_->receive(out.text.data(), out.text.size()) || !helper_->receive(values, wanted * sizeof(double)))
    return obituary(path);
  if (out.about.error_code == helper::kDone) return out;
  const std::size_t end = std::min(out.text.find('\0'), out.text.size());
  const std::string remedy = end < out.text.size() ? out.text.substr(end + 1) : "";
  const auto code = static_cast<ErrorCode>(out.about.error_code);
  const bool known = code == ErrorCode::unsupported || code == ErrorCode::out_of_memory;
  return Error{known ? code : ErrorCode::bad_data, printable(out.text.substr(0, end)),
               name.empty() ? path : path + ":" + name, printable(remedy)};
}

Outcome<std::vector<std::string>> Reader::datasets(const std::string& path) {
  helper::Request request{};
  request.kind = helper::Kind::list;
  request.memory_limit = kLookingMemory.count;
  const auto reply = ask(request, path, "", nullptr);
  if (!reply) return reply.error();
  std::vector<std::string> out = split(reply->text, '\0');
  if (!out.empty()) out.pop_back();
  return out;
}

Outcome<Series> Reader::describe(const std::string& path, const std::string& name) {
  helper::Request request{};
  request.kind = helper::Kind::describe;
  request.memory_limit = kLookingMemory.count;
  const auto reply = ask(request, path, name, nullptr);
  if (!reply) return reply.error();
  const helper::Answer& about = reply->about;
  if (about.dimensions < 1 || about.dimensions > 3 || about.chunk_bytes > std::uint64_t{1} << 48) {
    return Error{ErrorCode::crashed, "its reader sent nonsense", path, ""};
  }
  // A row of chunks stays; one chunk is also there as it lies in the file, and once more between two filters.
  return Series{
      name, {about.shape, about.shape + about.dimensions}, reply->text, kIdleMemory + Bytes{3 * about.chunk_bytes}};
}

void Reader::read(const std::string& path, const Series& series, std::size_t columns, std::uint64_t first,
                  std::size_t count, double* out) {
  helper::Request request{};
  request.kind = helper::Kind::read;
  request.columns = static_cast<std::uint32_t>(columns);
  request.first = first;
  request.count = count;
  request.memory_limit = (series.memory + kLookingMemory).count;
  const auto reply = ask(request, path, series.name, out);
  if (!reply) throw Failure(reply.error());
}

}  // namespace millrace::hdf5
