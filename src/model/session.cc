#include "src/model/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "src/base/mutex.h"
#include "src/memory/budget.h"
#include "src/memory/buffer.h"
#include "src/model/compiled_cache.h"
#include "src/model/runtime.h"

namespace millrace::model {

struct Session::Request {
  std::recursive_mutex ending;  // recursive: the backend may end the next item before begin() of it returns
  Session* session = nullptr;
  BackendRequest* handle = nullptr;
  WaitingInput item;
};

Session::Session(const ModelFile& file, const SessionOptions& options)
    : file_(file),
      backend_(model::runtime().or_throw()),
      before_(resident_memory().now),
      runtime_(backend_->runtime),
      cancel_(options.cancel) {
  for (const std::int64_t side : options.input) input_elements_ *= static_cast<std::size_t>(side);
  BackendLoad wanted;
  wanted.path = file.path.c_str();
  std::string cache;
  std::optional<CacheLock> turn;
  if (!options.cache.empty()) {
    const auto folder = cache_folder(options.cache, cache_key(file, options, runtime_));
    // Compiling takes seconds, minutes at most.
    auto waited =
        folder ? CacheLock::wait(*folder, std::chrono::minutes(3), options.cancel) : Outcome<CacheLock>(folder.error());
    if (waited) {
      cache = *folder;
      turn = std::move(waited).value();
    } else {
      if (waited.error().code == ErrorCode::cancelled) throw Failure(waited.error());
      not_cached_ = waited.error().message();
    }
  }
  wanted.cache = cache.empty() ? nullptr : cache.c_str();
  wanted.bfloat16 = options.precision == Precision::bf16;
  wanted.channels_last = options.channels_last;
  wanted.threads = options.threads;
  wanted.requests = options.requests;
  wanted.shape = options.input.data();
  wanted.sides = options.input.size();
  const auto check = [&](char* what) {
    if (what == nullptr) return;
    const std::string words = what;
    backend_->free_text(what);
    throw Failure(error_of(words));
  };
  check(backend_->load(wanted, model_));
  if (turn) turn->done();
  turn.reset();
  try {
    precision_ = backend_->precision(model_);
    for (std::size_t k = 0; k < backend_->outputs(model_); ++k) {
      const BackendPort port = backend_->output(model_, k);
      outputs_.push_back({port.name, {port.shape, port.shape + port.sides}});
      if (std::count_if(outputs_.back().shape.begin(), outputs_.back().shape.end(),
                        [](auto side) { return side < 0; }) > 0) {
        throw Failure(ErrorCode::unsupported,
                      fmt::format("the size of its output '{}' is unknown before it has run: {}", port.name,
                                  text_of(outputs_.back().shape)),
                      file.path, "export it for a fixed window size");
      }
    }
    for (int k = 0; k < std::max(1, options.requests); ++k) {
      auto request = std::make_unique<Request>();
      request->session = this;
      check(backend_->make_request(model_, request->handle));
      free_.push_back(request.get());
      requests_.push_back(std::move(request));
    }
  } catch (...) {
    for (const auto& request : requests_) backend_->end_request(request->handle);
    backend_->unload(model_);
    throw;
  }
  compiled_ = resident_memory().now;
}

Session::~Session() {
  if (stuck_) {
    for (auto& request : requests_) {
      const std::lock_guard lock(request->ending);
      request->session = nullptr;
      static_cast<void>(request.release());
    }
    return;
  }
  for (const auto& request : requests_) backend_->end_request(request->handle);
  backend_->unload(model_);
}

void Session::submit(const float* input, std::vector<float*> outputs, Completion done) {
  outputs.resize(outputs_.size(), nullptr);
  WaitingInput item{input, std::move(outputs), std::move(done)};
  Request* request = nullptr;
  bool ends = false;
  {
    const MutexLock lock(mutex_);
    ends = interrupted_;
    if (!ends && free_.empty()) {
      waiting_.push_back(std::move(item));
      return;
    }
    if (!ends) {
      request = free_.back();
      free_.pop_back();
    }
  }
  if (!ends) return begin(*request, std::move(item));
  const Error error = interrupted();
  item.done(&error);
}

void Session::interrupt() {
  std::deque<WaitingInput> dropped;
  {
    const MutexLock lock(mutex_);
    interrupted_ = true;
    dropped.swap(waiting_);
  }
  for (const auto& request : requests_) backend_->cancel(request->handle);
  const Error error = interrupted();
  for (const WaitingInput& item : dropped) item.done(&error);
}

void Session::go_on() {
  const MutexLock lock(mutex_);
  interrupted_ = false;
}

void Session::begin(Request& request, WaitingInput item) {
  request.item = std::move(item);
  char* const what = backend_->start(
      request.handle, request.item.input, request.item.outputs.data(),
      [](void* user, const char* error) {
        auto& ended = *static_cast<Request*>(user);
        const std::lock_guard lock(ended.ending);
        if (ended.session != nullptr) ended.session->end(ended, error);
      },
      &request);
  if (what == nullptr) return;
  const std::string words = what;
  backend_->free_text(what);
  end(request, words.c_str());
}

void Session::end(Request& request, const char* what) {
  const Completion done = std::move(request.item.done);
  std::optional<Error> error;
  if (what != nullptr) error = error_of(what);
  std::optional<WaitingInput> next;
  {
    const MutexLock lock(mutex_);
    if (error && interrupted_) error = interrupted();
    if (waiting_.empty()) {
      free_.push_back(&request);
    } else {
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
  }
  // The next item is started first: handling this result must not keep the network waiting.
  if (next) begin(request, *std::move(next));
  done(error ? &*error : nullptr);
}

Error Session::error_of(const std::string& what) const {
  return {ErrorCode::unsupported, clean_runtime_message(what, file_.onnx), file_.path,
          "use another --window, or export it again with standard ONNX operators"};
}

void Session::wait_for(const std::function<void(Completion)>& submit, const CancelToken* cancel) {
  // Shared with `done`, which may be called when nobody waits any more.
  struct Wait {
    Mutex mutex;
    Condition ended;
    bool done = false;
    std::optional<Error> failed;
  };
  constexpr auto kPollInterval = std::chrono::milliseconds(50);
  const auto wait = std::make_shared<Wait>();
  submit([wait](const Error* error) {
    const MutexLock lock(wait->mutex);
    if (error != nullptr) wait->failed = *error;
    wait->done = true;
    wait->ended.notify_one();
  });
  MutexLock lock(wait->mutex);
  while (!wait->done) {
    wait->ended.wait_for(lock, kPollInterval);
    if (!wait->done && cancel != nullptr && cancel->cancelled()) throw Failure(interrupted());
  }
  if (wait->failed) throw Failure(*wait->failed);
}

Session::Memory Session::measure() {
  auto input = std::make_unique<Buffer<float>>(input_elements_);
  std::fill(input->begin(), input->end(), 0.0F);
  const Bytes before = resident_memory().now;
  try {
    wait_for([&](Completion done) { submit(input->data(), {}, std::move(done)); }, cancel_);
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) {
      const MutexLock lock(mutex_);
      stuck_ = free_.size() < requests_.size();
      if (stuck_) static_cast<void>(input.release());
    }
    throw;
  }
  const auto grown = [](Bytes from, Bytes to) { return Bytes{to.count > from.count ? to.count - from.count : 0}; };
  return {grown(before_, compiled_), grown(before, resident_memory().now)};
}

}  // namespace millrace::model
