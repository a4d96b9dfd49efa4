// The reader of HDF5: one request at a time until its socket closes. It is allowed to crash: the library does on some
// damaged files.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "src/io/store/helper/dataset.h"
#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5::helper {
namespace {

bool send_all(const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(kSocket, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool receive_all(void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::recv(kSocket, at, size, MSG_WAITALL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// The library may be at work for minutes when the program dies; its death closes the socket.
void end_with_the_program() {
  pollfd gone{kSocket, POLLRDHUP, 0};
  while (::poll(&gone, 1, -1) < 0 && errno == EINTR) {
  }
  std::_Exit(0);
}

// What is written to, not address space. The program may allow more later.
void limit_memory(std::uint64_t bytes) {
#ifdef MILLRACE_SANITIZED
  (void)bytes;
#else
  rlimit bound{};
  if (bytes == 0 || ::getrlimit(RLIMIT_DATA, &bound) != 0) return;
  bound.rlim_cur = std::min<rlim_t>(bytes, bound.rlim_max);
  ::setrlimit(RLIMIT_DATA, &bound);
#endif
}

// The file and the dataset that were asked for last stay open.
class Open {
 public:
  const File& file(const std::string& path) {
    if (!file_ || path != path_) {
      forget();
      file_ = std::make_unique<File>(path);
      path_ = path;
    }
    return *file_;
  }
  const Dataset& dataset(const std::string& path, const std::string& name) {
    const File& where = file(path);
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
  std::string path_, name_;
  std::unique_ptr<File> file_;
  std::unique_ptr<Dataset> dataset_;
};

struct Said {
  Answer answer{};
  std::string text;
  std::vector<double> values;
};

void answer(const Request& request, const std::string& path, const std::string& name, Open& open, Said& out) {
  out.answer = {};
  out.answer.error_code = kDone;
  out.text.clear();
  out.values.clear();
  if (request.kind == Kind::list) {
    open.forget();
    for (const std::string& dataset : open.file(path).datasets()) {
      if (out.text.size() + dataset.size() < kMostText) out.text += dataset + '\0';
    }
    return;
  }
  // What is described may have changed since.
  if (request.kind == Kind::describe) open.forget();
  const Dataset& dataset = open.dataset(path, name);
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
bool serve(Open& open, Said& said) {
  Request request{};
  if (!receive_all(&request, sizeof request)) return false;
  if (request.path_bytes > kMostText || request.dataset_bytes > kMostText) return false;
  std::string path(request.path_bytes, '\0'), name(request.dataset_bytes, '\0');
  if (!receive_all(path.data(), path.size()) || !receive_all(name.data(), name.size())) return false;
  limit_memory(request.memory_limit);
  const auto failed = [&](ErrorCode code, const std::string& what, const std::string& remedy) {
    said = {};
    said.answer.error_code = static_cast<std::uint32_t>(code);
    said.text = what.substr(0, kMostText / 4) + '\0' + remedy;
    open.forget();
  };
  try {
    answer(request, path, name, open, said);
  } catch (const Failure& failure) {
    // What the library cannot read is the file's fault; the system's refusals were met when it was hashed.
    const Error& error = failure.error();
    failed(error.code == ErrorCode::io ? ErrorCode::bad_data : error.code, error.what, error.remedy);
  } catch (const std::bad_alloc&) {
    failed(ErrorCode::out_of_memory, "it does not fit in memory", "allow more with --memory");
  }
  said.answer.text_bytes = static_cast<std::uint32_t>(said.text.size());
  said.answer.values = said.values.size();
  return send_all(&said.answer, sizeof said.answer) && send_all(said.text.data(), said.text.size()) &&
         send_all(said.values.data(), said.values.size() * sizeof(double));
}

}  // namespace
}  // namespace millrace::hdf5::helper

int main() {
  using namespace millrace::hdf5;
  // Ctrl-C reaches the whole foreground group; it is the program that decides when its helpers go.
  std::signal(SIGINT, SIG_IGN);
  if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  // Some file systems have no locks; others' files are only read.
  ::setenv("HDF5_USE_FILE_LOCKING", "BEST_EFFORT", 0);
  std::thread(helper::end_with_the_program).detach();
  helper::Open open;
  helper::Said said;
  while (helper::serve(open, said)) {
  }
  std::_Exit(0);
}
