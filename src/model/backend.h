// Input: nothing; both the program and a backend, a shared object that is opened at run time, include this.
// Output: what a backend is to the program: functions and plain structures.
// Never: lets an exception, or a type of a library, through; includes anything but sizes of integers.
//
// Whatever can fail gives null, or a text that is given back by free_text(). No function but free_text() and
// cancel() may be called on one request from two threads at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::model {

// Another number is another layout of what is below.
inline constexpr std::uint32_t kBackendVersion = 3;
inline constexpr const char* kBackendSymbol = "millrace_model_backend";

struct BackendModel;
struct BackendRequest;

struct BackendLoad {
  const char* path = nullptr;
  const char* cache = nullptr;  // a folder for what is compiled; null: none
  bool bfloat16 = false;        // else float32
  // The network's own inputs and outputs are [1, height, width, channels]; here they are [1, channels, height, width].
  bool channels_last = false;
  std::int32_t threads = 1;             // that requests share, each on one
  std::int32_t requests = 1;            // that may be under way at once
  const std::int64_t* shape = nullptr;  // of the one input, whole, as it is here
  std::size_t sides = 0;
};

// Of an input or an output, as it is once the input's shape is known; lives as long as its model.
struct BackendPort {
  const char* name = nullptr;
  const std::int64_t* shape = nullptr;  // -1: not known before it has run
  std::size_t sides = 0;
};

struct Backend {
  std::uint32_t version = 0;
  const char* runtime = nullptr;  // "OpenVINO 2026.4.1"
  void (*free_text)(char* text) = nullptr;

  char* (*load)(const BackendLoad& wanted, BackendModel*& out) = nullptr;
  void (*unload)(BackendModel* model) = nullptr;  // with no request left
  std::size_t (*outputs)(const BackendModel* model) = nullptr;
  BackendPort (*output)(const BackendModel* model, std::size_t k) = nullptr;
  // What it computes in, as its own library names it: "f32".
  const char* (*precision)(const BackendModel* model) = nullptr;

  char* (*make_request)(BackendModel* model, BackendRequest*& out) = nullptr;
  void (*end_request)(BackendRequest* request) = nullptr;  // one that is under way is waited for
  // Begins, and returns. `input` is float32 of the model's input shape, outputs[k] has room for output k in float32, or
  // is null where nobody asks for it. All stay where they are until `done` is called, once, on a thread of the backend:
  // with null, or with what went wrong, which lives as long as the call.
  char* (*start)(BackendRequest* request, const float* input, float* const* outputs,
                 void (*done)(void* user, const char* error), void* user) = nullptr;
  // One that is under way ends early, with an error, if it can; one that is not stays as it is. Any thread.
  void (*cancel)(BackendRequest* request) = nullptr;
};

}  // namespace millrace::model
