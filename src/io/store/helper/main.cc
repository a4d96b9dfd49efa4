// The reader of HDF5: one request at a time until its socket closes. It is allowed to crash: the library does on some
// damaged files.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "src/io/process/helper/walls.h"
#include "src/io/process/helper_side.h"
#include "src/io/process/socket_bytes.h"
#include "src/io/store/helper/dataset.h"
#include "src/io/store/helper/plugins.h"
#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5::helper {
namespace {

// The file that was given last, and the dataset that was asked for last, stay open.
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
  void forget() {
    dataset_.reset();
    file_.reset();
  }

 private:
  int fd_ = -1;
  std::string name_;
  std::unique_ptr<File> file_;
  std::unique_ptr<Dataset> dataset_;
};

struct Said {
  Answer answer{};
  std::string text;
  std::vector<double> values;
};

void answer(const Request& request, const std::string& name, Open& open, Said& out) {
  out.answer = {};
  out.answer.error_code = kDone;
  out.text.clear();
  out.values.clear();
  if (request.kind == Kind::list) {
    open.forget();
    for (const std::string& dataset : open.file().datasets()) {
      if (out.text.size() + dataset.size() < kMostText) out.text += dataset + '\0';
    }
    return;
  }
  // What is described may have changed since.
  if (request.kind == Kind::describe) open.forget();
  const Dataset& dataset = open.dataset(name);
  if (request.kind == Kind::describe) {
    out.text = dataset.words();
    out.answer.dimensions = static_cast<std::uint32_t>(dataset.shape().size());
    std::copy(dataset.shape().begin(), dataset.shape().end(), out.answer.shape);
    out.answer.chunk_bytes = dataset.chunk_bytes();
  } else {
    dataset.read(request.columns, request.first, request.count, out.values);
  }
}

// False when the program is gone.
bool serve(Open& open, Said& said, bool& limited) {
  Request request{};
  int fd = -1;
  if (!receive_with_descriptor(kHelperSocket, &request, sizeof request, fd)) return false;
  if (fd >= 0) open.give(fd);
  if (request.dataset_bytes > kMostText) return false;
  std::string name(request.dataset_bytes, '\0');
  if (!receive_bytes(kHelperSocket, name.data(), name.size())) return false;
  if (!std::exchange(limited, true)) limit_memory(request.memory_most, true);
  limit_memory(request.memory_limit, false);
  const auto failed = [&](ErrorCode code, const std::string& what, const std::string& remedy) {
    said = {};
    said.answer.error_code = static_cast<std::uint32_t>(code);
    said.text = what.substr(0, kMostText / 4) + '\0' + remedy;
    open.forget();
  };
  try {
    answer(request, name, open, said);
  } catch (const Failure& failure) {
    // What the library cannot read is the file's fault; the system's refusals were met when it was hashed.
    const Error& error = failure.error();
    failed(error.code == ErrorCode::io ? ErrorCode::bad_data : error.code, error.what, error.remedy);
  } catch (const std::bad_alloc&) {
    failed(ErrorCode::out_of_memory, "it does not fit in memory", "allow more with --memory");
  }
  said.answer.text_bytes = static_cast<std::uint32_t>(said.text.size());
  said.answer.values = said.values.size();
  return send_bytes(kHelperSocket, &said.answer, sizeof said.answer) &&
         send_bytes(kHelperSocket, said.text.data(), said.text.size()) &&
         send_bytes(kHelperSocket, said.values.data(), said.values.size() * sizeof(double));
}

}  // namespace
}  // namespace millrace::hdf5::helper

int main(int argc, char** argv) {
  using namespace millrace::hdf5;
  millrace::begin_helping(argc, argv);
  be_quiet();
  helper::load_plugins();
  millrace::put_up_walls();
  millrace::end_with_program();
  helper::Open open;
  helper::Said said;
  bool limited = false;
  while (helper::serve(open, said, limited)) {
  }
  std::_Exit(0);
}
