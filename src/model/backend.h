// Input: nothing. Both the program and a backend, a shared object that is opened at run time, include this file.
// Output: the interface of a backend: functions and plain structures.
// Never: lets an exception or a library's type through; includes anything but integer types.
//
// A function that can fail returns null, or an error text that the caller returns with free_text(). Only free_text()
// and cancel() may be called on a request while another thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::model {

// Another version means another layout of the structures below.
inline constexpr std::uint32_t kBackendVersion = 3;
inline constexpr const char* kBackendSymbol = "millrace_model_backend";

struct BackendModel;
struct BackendRequest;

struct BackendLoad {
  const char* path = nullptr;
  const char* cache = nullptr;  // folder for compiled models; null: none
  bool bfloat16 = false;        // false: float32
  // The network's own inputs and outputs are [1, height, width, channels]; here they are [1, channels, height, width].
  bool channels_last = false;
  std::int32_t threads = 1;             // shared by the requests, each of which runs on one
  std::int32_t requests = 1;            // number that may run at once
  const std::int64_t* shape = nullptr;  // complete shape of the only input, in the order used here
  std::size_t sides = 0;
};

// An input or an output, once the input's shape is known; lives as long as its model.
struct BackendPort {
  const char* name = nullptr;
  const std::int64_t* shape = nullptr;  // -1: unknown before the model has run
  std::size_t sides = 0;
};

struct Backend {
  std::uint32_t version = 0;
  const char* runtime = nullptr;  // "OpenVINO 2026.4.1"
  void (*free_text)(char* text) = nullptr;

  char* (*load)(const BackendLoad& wanted, BackendModel*& out) = nullptr;
  void (*unload)(BackendModel* model) = nullptr;  // called when no request is left
  std::size_t (*outputs)(const BackendModel* model) = nullptr;
  BackendPort (*output)(const BackendModel* model, std::size_t k) = nullptr;
  // Precision of the computation, as the library names it: "f32".
  const char* (*precision)(const BackendModel* model) = nullptr;

  char* (*make_request)(BackendModel* model, BackendRequest*& out) = nullptr;
  void (*end_request)(BackendRequest* request) = nullptr;  // waits for a request that is running
  // Starts a request and returns. `input` is float32 in the model's input shape. outputs[k] has room for output k in
  // float32, or is null where it is not wanted. All of them must stay valid until `done` is called, once, on a thread
  // of the backend. Its argument is null, or an error text that is valid during the call.
  char* (*start)(BackendRequest* request, const float* input, float* const* outputs,
                 void (*done)(void* user, const char* error), void* user) = nullptr;
  // Ends a running request early, with an error, if the library can; no effect on others. Any thread may call it.
  void (*cancel)(BackendRequest* request) = nullptr;
};

}  // namespace millrace::model
