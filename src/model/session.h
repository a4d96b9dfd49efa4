// Input: a model, and inputs one after the other.
// Output: its outputs, in memory of who asked, each as it is done.
// Never: decides in what order results are used, or what they mean; changes a number by how many are under way.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "include/millrace/cancel.h"
#include "src/base/choice.h"
#include "src/base/sizes.h"
#include "src/model/backend.h"
#include "src/model/model_file.h"

namespace millrace::model {

// What a network computes in. Results in bfloat16 are others, and faster where a CPU has it.
enum class Precision : std::uint8_t { f32, bf16 };
constexpr std::array<Choice<Precision>, 2> choices_of(Precision) {
  return {{{"f32", Precision::f32}, {"bf16", Precision::bf16}}};
}

struct SessionOptions {
  std::vector<std::int64_t> input;  // the shape of one, whole
  Precision precision = Precision::f32;
  int threads = 1;
  int requests = 2;            // under way at once
  bool channels_last = false;  // of the network: inputs and outputs here are [1, channels, height, width] all the same
  std::string cache;           // a folder of folders for what is compiled, each the user's alone; empty: none
  const CancelToken* cancel = nullptr;  // looked at while another run compiles the same, and in measure()
};

struct Output {
  std::string name;
  std::vector<std::int64_t> shape;
};

class Session {
 public:
  // Called once for each that was submitted, with nothing or what went wrong: on a thread of the backend; where it was
  // interrupted, also on the thread of interrupt(), or of submit() before that returns.
  using Done = std::function<void(const Error* error)>;
  // Submits one, and waits until it is done. Throws what went wrong; Failure(cancelled) where `cancel` says so and it
  // does not end: what it was given must stay then, and `done` may still be called.
  static void wait_for(const std::function<void(Done)>& submit, const CancelToken* cancel = nullptr);

  // Compiles it. Failure(unsupported) where the model needs what is not there, or cannot have such an input, and names
  // the node; (unavailable) where nothing runs models here.
  Session(const ModelFile& file, const SessionOptions& options);
  // Waits for those that are under way, but for one that did not end when measure() was cancelled: a network may loop
  // for ever, and nothing of the runtime stops it. What that holds is never given back.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<Output>& outputs() const { return outputs_; }
  // Why nothing is kept of what was compiled, though a folder for it was named; empty where it is.
  const std::string& not_cached() const { return not_cached_; }
  // "OpenVINO 2026.4.1", and "f32" as the runtime itself says.
  const std::string& runtime() const { return runtime_; }
  const std::string& precision() const { return precision_; }

  // One input, float32, and room for each output, null where it is not wanted; all stay as they are until `done`.
  // Returns at once; where all requests are busy it is started when one is free, in the order of calls. Any thread.
  void submit(const float* input, std::vector<float*> outputs, Done done);

  // What is under way and what waits ends with interrupted(), as soon as the backend lets it, and so does what is
  // submitted until go_on().
  void interrupt();
  void go_on();

  // What the compiled model takes, and a request; measured by running one on zeros, which nothing may run beside.
  struct Memory {
    Bytes model, request;
  };
  Memory measure();

 private:
  struct Request;
  struct Waiting {
    const float* input = nullptr;
    std::vector<float*> outputs;
    Done done;
  };

  void begin(Request& request, Waiting item);
  void end(Request& request, const char* what);
  Error error_of(const std::string& what) const;

  const ModelFile& file_;
  const Backend* backend_ = nullptr;
  BackendModel* model_ = nullptr;
  std::size_t input_elements_ = 1;
  Bytes before_, compiled_;
  std::vector<Output> outputs_;
  std::string runtime_, precision_, not_cached_;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> free_;
  std::deque<Waiting> waiting_;
  bool interrupted_ = false;
  const CancelToken* const cancel_;
  bool stuck_ = false;
};

// What a runtime said, without the places in its source that it names; and where it says that an operator is missing,
// the name of a node that needs it.
std::string plain_words(const std::string& what, const OnnxFile& onnx);

}  // namespace millrace::model
