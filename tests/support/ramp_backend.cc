// Inference backend for builds with sanitizers, which OpenVINO does not allow. It runs the one network of
// tests/support/onnx_model.py, y = W x + ramp, each request on its own thread. Only tests load it, from its own folder.
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "src/model/backend.h"

namespace millrace::model {

struct BackendModel {
  std::vector<float> weights, ramp;
  std::size_t classes = 0, channels = 0, pixels = 0;
  std::vector<std::int64_t> shape;
};

// A thread that does what it is given, one thing at a time; the next may be given by what was told that it is done.
struct BackendRequest {
  explicit BackendRequest(const BackendModel* of) : model(of), thread([this] { work(); }) {}
  ~BackendRequest() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    given.notify_one();
    thread.join();
  }
  void work() {
    while (true) {
      std::function<void()> now;
      {
        std::unique_lock lock(mutex);
        given.wait(lock, [this] { return next || ended; });
        if (!next) return;
        now = std::exchange(next, nullptr);
      }
      now();
    }
  }

  const BackendModel* model;
  std::mutex mutex;
  std::condition_variable given;
  std::function<void()> next;
  bool ended = false;
  std::thread thread;  // the last, as it uses the others
};

namespace {

char* text(const std::string& what) {
  char* out = new char[what.size() + 1];
  std::memcpy(out, what.c_str(), what.size() + 1);
  return out;
}

// Protocol buffers: visit(field, number, bytes) for each field; false where it is none.
template <typename Visit>
bool fields(std::string_view bytes, const Visit& visit) {
  std::size_t at = 0;
  const auto number = [&](std::uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes[at++]);
      out |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  while (at < bytes.size()) {
    std::uint64_t key = 0, value = 0;
    if (!number(key)) return false;
    const std::uint64_t kind = key & 7;
    if (kind == 0) {
      if (!number(value)) return false;
      visit(key >> 3, value, std::string_view());
      continue;
    }
    if (kind == 2 ? !number(value) : kind != 5 && kind != 1) return false;
    if (kind != 2) value = kind == 5 ? 4 : 8;
    if (value > bytes.size() - at) return false;
    visit(key >> 3, 0, bytes.substr(at, value));
    at += value;
  }
  return true;
}

struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

bool read_tensors(std::string_view model, std::map<std::string, Tensor>& out) {
  bool whole = true;
  whole = fields(model,
                 [&](std::uint64_t field, std::uint64_t, std::string_view graph) {
                   if (field != 7) return;
                   whole = whole && fields(graph, [&](std::uint64_t part, std::uint64_t, std::string_view tensor) {
                             if (part != 5) return;
                             Tensor one;
                             std::string name;
                             whole = whole &&
                                     fields(tensor, [&](std::uint64_t of, std::uint64_t value, std::string_view bytes) {
                                       if (of == 1 && bytes.empty()) one.shape.push_back(value);
                                       if (of == 8) name = bytes;
                                       if (of != 9) return;
                                       one.values.resize(bytes.size() / 4);
                                       std::memcpy(one.values.data(), bytes.data(), one.values.size() * 4);
                                     });
                             out[name] = std::move(one);
                           });
                 }) &&
          whole;
  return whole;
}

char* load(const BackendLoad& wanted, BackendModel*& out) {
  std::ifstream file(wanted.path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::map<std::string, Tensor> tensors;
  if (!read_tensors(bytes, tensors)) return text("this is no model");
  const Tensor &weights = tensors["weights"], &ramp = tensors["places"];
  if (weights.shape.size() != 4 || ramp.shape.size() != 4 || wanted.sides != 4 || wanted.channels_last)
    return text("this network is not the one that this runs");
  auto model = std::make_unique<BackendModel>();
  model->classes = weights.shape[0];
  model->channels = weights.shape[1];
  model->pixels = static_cast<std::size_t>(wanted.shape[2] * wanted.shape[3]);
  if (weights.values.size() != model->classes * model->channels ||
      ramp.values.size() != model->classes * model->pixels ||
      model->channels != static_cast<std::size_t>(wanted.shape[1]))
    return text("its numbers are not as many as they should be");
  model->weights = weights.values;
  model->ramp = ramp.values;
  model->shape = {1, static_cast<std::int64_t>(model->classes), wanted.shape[2], wanted.shape[3]};
  out = model.release();
  return nullptr;
}

char* start(BackendRequest* request, const float* input, float* const* outputs,
            void (*done)(void* user, const char* error), void* user) {
  const std::lock_guard lock(request->mutex);
  request->next = [model = request->model, input, out = outputs[0], done, user] {
    for (std::size_t k = 0; out != nullptr && k < model->classes; ++k) {
      for (std::size_t i = 0; i < model->pixels; ++i) {
        float sum = 0;
        for (std::size_t c = 0; c < model->channels; ++c)
          sum += model->weights[k * model->channels + c] * input[c * model->pixels + i];
        out[k * model->pixels + i] = sum + model->ramp[k * model->pixels + i];
      }
    }
    done(user, nullptr);
  };
  request->given.notify_one();
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Backend* millrace_model_backend() {
  static const Backend backend = {kBackendVersion,
                                  "Ramps 1",
                                  [](char* what) { delete[] what; },
                                  load,
                                  [](BackendModel* model) { delete model; },
                                  [](const BackendModel*) -> std::size_t { return 1; },
                                  [](const BackendModel* model, std::size_t) {
                                    return BackendPort{"y", model->shape.data(), model->shape.size()};
                                  },
                                  [](const BackendModel*) { return "f32"; },
                                  [](BackendModel* model, BackendRequest*& out) -> char* {
                                    out = new BackendRequest(model);
                                    return nullptr;
                                  },
                                  [](BackendRequest* request) { delete request; },
                                  start,
                                  [](BackendRequest*) {}};
  return &backend;
}

}  // namespace millrace::model
