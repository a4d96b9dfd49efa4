// Input: a model, and inputs one after the other.
// Output: its outputs, in the caller's memory, each as soon as it is done.
// Never: decides in what order results are used, or what they mean; changes a number with the number of requests in
// progress.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "include/millrace/cancel.h"
#include "src/base/choice.h"
#include "src/base/mutex.h"
#include "src/base/sizes.h"
#include "src/model/backend.h"
#include "src/model/model_file.h"

namespace millrace::model {

// Precision of the network's computation. Results in bfloat16 differ, and are faster on a CPU that supports it.
enum class Precision : std::uint8_t { f32, bf16 };
constexpr std::array<Choice<Precision>, 2> choices_of(Precision) {
  return {{{"f32", Precision::f32}, {"bf16", Precision::bf16}}};
}

struct SessionOptions {
  std::vector<std::int64_t> input;  // complete shape of one input
  Precision precision = Precision::f32;
  int threads = 1;
  int requests = 2;            // running at once
  bool channels_last = false;  // layout of the network; inputs and outputs here are always [1, channels, height, width]
  std::string cache;           // folder with one folder for each compiled model, writable only by the user; empty: none
  const CancelToken* cancel = nullptr;  // checked while another run compiles the same model, and in measure()
};

struct Output {
  std::string name;
  std::vector<std::int64_t> shape;
};

class Session {
 public:
  // Called once for each input that was submitted, with null or an error, on a thread of the backend. After an
  // interruption it may also be called on the thread of interrupt(), or of submit() before that returns.
  using Completion = std::function<void(const Error* error)>;
  // Submits one input, and waits until it is done. Throws its error. Throws Failure(cancelled) where `cancel` is set
  // and the input does not end. In that case the buffers must stay valid, and `done` may still be called.
  static void wait_for(const std::function<void(Completion)>& submit, const CancelToken* cancel = nullptr);

  // Compiles the model. Throws Failure(unsupported), with the node's name, where the model needs a missing operator or
  // cannot have such an input; (unavailable) where no backend is installed.
  Session(const ModelFile& file, const SessionOptions& options);
  // Waits for running requests, except one that did not end when measure() was cancelled. A network may loop for ever,
  // and the runtime cannot stop it. The memory of such a request is never freed.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<Output>& outputs() const { return outputs_; }
  // Reason why the compiled model was not cached, though a folder was given; empty where it was.
  const std::string& cache_failure() const { return not_cached_; }
  // These two are "OpenVINO 2026.4.1", and "f32" as the runtime itself reports.
  const std::string& runtime() const { return runtime_; }
  const std::string& precision() const { return precision_; }

  // Takes one input in float32, and room for each output, null where it is not wanted; all must stay valid until
  // `done`. Returns at once. Where all requests are busy, it starts when one is free, in the order of calls. Any thread
  // may call it.
  void submit(const float* input, std::vector<float*> outputs, Completion done);

  // Ends running and waiting inputs with interrupted(), as soon as the backend allows it, and inputs that are submitted
  // until go_on().
  void interrupt();
  void go_on();

  // Memory of the compiled model, and of one request. It is measured by running one on zeros; nothing else may run
  // meanwhile.
  struct Memory {
    Bytes model, request;
  };
  Memory measure();

 private:
  struct Request;
  struct WaitingInput {
    const float* input = nullptr;
    std::vector<float*> outputs;
    Completion done;
  };

  void begin(Request& request, WaitingInput item);
  void end(Request& request, const char* what);
  Error error_of(const std::string& what) const;

  const ModelFile& file_;
  const Backend* backend_ = nullptr;
  BackendModel* model_ = nullptr;
  std::size_t input_elements_ = 1;
  Bytes before_, compiled_;
  std::vector<Output> outputs_;
  std::string runtime_, precision_, not_cached_;

  Mutex mutex_;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> free_ MILLRACE_GUARDED_BY(mutex_);
  std::deque<WaitingInput> waiting_ MILLRACE_GUARDED_BY(mutex_);
  bool interrupted_ MILLRACE_GUARDED_BY(mutex_) = false;
  const CancelToken* const cancel_;
  bool stuck_ = false;
};

// Returns a runtime's message without the places in its source. Where an operator is missing, the name of a node that
// needs it is added.
std::string clean_runtime_message(const std::string& what, const OnnxFile& onnx);

}  // namespace millrace::model
