// Helper process that reads HDF5 files: one request at a time until its socket closes. It is allowed to crash: the
// library does on some damaged files.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "src/io/process/helper/sandbox.h"
#include "src/io/process/helper_startup.h"
#include "src/io/process/socket_bytes.h"
#include "src/io/store/helper/dataset.h"
#include "src/io/store/helper/plugins.h"
#include "src/io/store/helper/protocol.h"
#include "src/io/store/helper/stored_rows.h"

namespace millrace::hdf5::helper {
namespace {

// The last file and the last dataset stay open.
class Open {
 public:
  void give(int fd) {
    forget();
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  const File& file() {
    if (!file_) file_ = std::make_unique<File>(fd_);
    return *file_;
  }
  const Dataset& dataset(const std::string& name) {
    const File& where = file();
    if (!dataset_ || name != name_) {
      dataset_.reset();
      dataset_ = std::make_unique<Dataset>(where, name);
      name_ = name;
    }
    return *dataset_;
  }
  const StoredRows& stored_rows(const std::string& name, const std::string& type, const Request& request) {
    const File& where = file();
    if (!stored_ || name != stored_name_) {
      stored_.reset();
      stored_ = std::make_unique<StoredRows>(where, name, type, request.rows, request.row_bytes);
      stored_name_ = name;
    }
    return *stored_;
  }
  void forget() {
    dataset_.reset();
    stored_.reset();
    file_.reset();
  }

 private:
  int fd_ = -1;
  std::string name_, stored_name_;
  std::unique_ptr<File> file_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<StoredRows> stored_;
};

struct Response {
  Answer answer{};
  std::string text;
  std::vector<double> values;
  std::vector<std::uint8_t> rows;
};

void answer(const Request& request, const std::string& name, const std::string& type, Open& open, Response& out) {
  out.answer = {};
  out.answer.error_code = kDone;
  out.text.clear();
  out.values.clear();
  out.rows.clear();
  if (request.kind == RequestKind::attributes) {
    open.forget();
    out.text = attributes_of(open.file());
    return;
  }
  if (request.kind == RequestKind::stored_rows) {
    return open.stored_rows(name, type, request).read(request.first, request.count, out.rows);
  }
  if (request.kind == RequestKind::list) {
    open.forget();
    for (const std::string& dataset : open.file().datasets()) {
      if (out.text.size() + dataset.size() < kMaxText) out.text += dataset + '\0';
    }
    return;
  }
  // The file may have changed since it was opened.
  if (request.kind == RequestKind::describe) open.forget();
  const Dataset& dataset = open.dataset(name);
  if (request.kind == RequestKind::describe) {
    out.text = dataset.words();
    out.answer.dimensions = static_cast<std::uint32_t>(dataset.shape().size());
    std::copy(dataset.shape().begin(), dataset.shape().end(), out.answer.shape);
    out.answer.chunk_bytes = dataset.chunk_bytes();
  } else {
    dataset.read(request.columns, request.first, request.count, out.values);
  }
}

// Answers one request. Returns false if the program is gone, or its request is invalid.
bool serve(Open& open, Response& response, bool& limited) {
  Request request{};
  int fd = -1;
  if (!receive_with_descriptor(kHelperSocket, &request, sizeof request, fd)) return false;
  if (fd >= 0) open.give(fd);
  if (request.dataset_bytes > kMaxText || request.type_bytes > kMaxType) return false;
  std::string name(request.dataset_bytes, '\0'), type(request.type_bytes, '\0');
  if (!receive_bytes(kHelperSocket, name.data(), name.size()) ||
      !receive_bytes(kHelperSocket, type.data(), type.size()))
    return false;
  if (!std::exchange(limited, true)) limit_memory(request.max_memory, true);
  limit_memory(request.memory_limit, false);
  const auto failed = [&](ErrorCode code, const std::string& what, const std::string& remedy) {
    response = {};
    response.answer.error_code = static_cast<std::uint32_t>(code);
    response.text = what.substr(0, kMaxText / 4) + '\0' + remedy;
    open.forget();
  };
  try {
    answer(request, name, type, open, response);
  } catch (const Failure& failure) {
    // A file that the library cannot read is damaged: errors of the system were found when the file was hashed.
    const Error& error = failure.error();
    failed(error.code == ErrorCode::io ? ErrorCode::bad_data : error.code, error.what, error.remedy);
  } catch (const std::bad_alloc&) {
    failed(ErrorCode::out_of_memory, "it does not fit in memory", "allow more with --memory");
  }
  response.answer.text_bytes = static_cast<std::uint32_t>(response.text.size());
  response.answer.values = response.values.size();
  response.answer.bytes = response.rows.size();
  return send_bytes(kHelperSocket, &response.answer, sizeof response.answer) &&
         send_bytes(kHelperSocket, response.text.data(), response.text.size()) &&
         send_bytes(kHelperSocket, response.values.data(), response.values.size() * sizeof(double)) &&
         send_bytes(kHelperSocket, response.rows.data(), response.rows.size());
}

}  // namespace
}  // namespace millrace::hdf5::helper

int main(int argc, char** argv) {
  using namespace millrace::hdf5;
  millrace::initialize_helper(argc, argv);
  silence_errors();
  helper::load_plugins();
  millrace::enter_helper_sandbox();
  millrace::end_with_program();
  helper::Open open;
  helper::Response response;
  bool limited = false;
  while (helper::serve(open, response, limited)) {
  }
  std::_Exit(0);
}
