// OpenVINO as a backend (backend.h). Only this file includes its headers. It is built into a library that is opened at
// run time. So a program without OpenVINO starts, and does everything that needs no model.

#include <cstring>
#include <exception>
#include <memory>
#include <openvino/frontend/manager.hpp>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "src/model/backend.h"

namespace millrace::model {

struct BackendModel {
  ov::CompiledModel compiled;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::string> names;
  std::string precision;
};

struct BackendRequest {
  ov::InferRequest request;
  ov::element::Type type;
  ov::Shape input;
  std::vector<ov::Shape> outputs;
};

namespace {

char* text(const std::string& what) {
  char* out = new char[what.size() + 1];
  std::memcpy(out, what.c_str(), what.size() + 1);
  return out;
}

// Returns null, or the text of the exception that `work` threw.
template <typename Work>
char* caught(const Work& work) {
  try {
    work();
    return nullptr;
  } catch (const std::exception& error) {
    return text(error.what());
  } catch (...) {
    return text("unknown failure");
  }
}

ov::Core& core() {
  static ov::Core* const made = new ov::Core;  // never deleted: its threads may outlive main()
  return *made;
}

std::shared_ptr<ov::Model> read(const BackendLoad& wanted) {
  // The front end is chosen by its name: for a text file named .onnx, OpenVINO would choose another one.
  const ov::frontend::FrontEnd::Ptr onnx = ov::frontend::FrontEndManager().load_by_framework("onnx");
  if (!onnx) throw std::runtime_error("OpenVINO's ONNX frontend is not installed");
  const std::shared_ptr<ov::Model> model = onnx->convert(onnx->load(std::string(wanted.path)));
  if (model->inputs().size() != 1) throw std::runtime_error("the model does not have one input");
  std::vector<ov::Dimension> sides(wanted.shape, wanted.shape + wanted.sides);
  const bool last = wanted.channels_last && sides.size() == 4;
  if (last) sides = {sides[0], sides[2], sides[3], sides[1]};
  model->reshape(ov::PartialShape(sides));
  // Inputs and outputs are float32, whatever type the model has.
  ov::preprocess::PrePostProcessor wrapped(model);
  wrapped.input().tensor().set_element_type(ov::element::f32);
  if (last) {
    wrapped.input().tensor().set_layout("NCHW");
    wrapped.input().model().set_layout("NHWC");
  }
  for (std::size_t k = 0; k < model->outputs().size(); ++k) {
    wrapped.output(k).tensor().set_element_type(ov::element::f32);
    if (!last || model->output(k).get_partial_shape().rank() != 4) continue;
    wrapped.output(k).tensor().set_layout("NCHW");
    wrapped.output(k).model().set_layout("NHWC");
  }
  return wrapped.build();
}

char* load(const BackendLoad& wanted, BackendModel*& out) {
  return caught([&] {
    ov::AnyMap how = {
        ov::hint::inference_precision(wanted.bfloat16 ? ov::element::bf16 : ov::element::f32),
        ov::hint::execution_mode(wanted.bfloat16 ? ov::hint::ExecutionMode::PERFORMANCE
                                                 : ov::hint::ExecutionMode::ACCURACY),
        // Each request runs on one thread of its own. Threads need no synchronisation, and a sum over a window has the
        // same order for any number of threads.
        ov::inference_num_threads(std::min(wanted.threads, wanted.requests)),
        ov::num_streams(std::min(wanted.threads, wanted.requests)),
    };
    if (wanted.cache != nullptr) how.emplace(ov::cache_dir(wanted.cache));
    auto model = std::make_unique<BackendModel>();
    model->compiled = core().compile_model(read(wanted), "CPU", how);
    for (const auto& port : model->compiled.outputs()) {
      std::vector<std::int64_t> shape;
      const ov::PartialShape& partial = port.get_partial_shape();
      if (partial.rank().is_static()) {
        for (const ov::Dimension& side : partial) shape.push_back(side.is_static() ? side.get_length() : -1);
      } else {
        shape.push_back(-1);
      }
      model->shapes.push_back(std::move(shape));
      model->names.push_back(port.get_names().empty() ? "" : port.get_any_name());
    }
    model->precision = model->compiled.get_property(ov::hint::inference_precision).get_type_name();
    out = model.release();
  });
}

void unload(BackendModel* model) { delete model; }

std::size_t outputs(const BackendModel* model) { return model->shapes.size(); }

BackendPort output(const BackendModel* model, std::size_t k) {
  return {model->names[k].c_str(), model->shapes[k].data(), model->shapes[k].size()};
}

const char* precision(const BackendModel* model) { return model->precision.c_str(); }

char* make_request(BackendModel* model, BackendRequest*& out) {
  return caught([&] {
    auto request = std::make_unique<BackendRequest>();
    request->request = model->compiled.create_infer_request();
    request->input = model->compiled.input().get_shape();
    for (const auto& port : model->compiled.outputs()) request->outputs.push_back(port.get_shape());
    out = request.release();
  });
}

void end_request(BackendRequest* request) {
  delete[] caught([&] { request->request.wait(); });
  delete request;
}

char* start(BackendRequest* request, const float* input, float* const* outputs,
            void (*done)(void* user, const char* error), void* user) {
  return caught([&] {
    request->request.set_input_tensor(ov::Tensor(ov::element::f32, request->input, const_cast<float*>(input)));
    for (std::size_t k = 0; k < request->outputs.size(); ++k) {
      if (outputs[k] != nullptr)
        request->request.set_output_tensor(k, ov::Tensor(ov::element::f32, request->outputs[k], outputs[k]));
    }
    request->request.set_callback([done, user](std::exception_ptr error) {
      char* const what = error ? caught([&] { std::rethrow_exception(error); }) : nullptr;
      done(user, what);
      delete[] what;
    });
    request->request.start_async();
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Backend* millrace_model_backend() {
  static const std::string runtime = "OpenVINO " + std::string(ov::get_openvino_version().buildNumber).substr(0, 8);
  static const Backend backend = {kBackendVersion,
                                  runtime.c_str(),
                                  [](char* what) { delete[] what; },
                                  load,
                                  unload,
                                  outputs,
                                  output,
                                  precision,
                                  make_request,
                                  end_request,
                                  start,
                                  [](BackendRequest* request) { delete[] caught([&] { request->request.cancel(); }); }};
  return &backend;
}

}  // namespace millrace::model
