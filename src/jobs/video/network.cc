#include "src/jobs/video/network.h"

#include "src/io/file/trusted_file.h"

namespace millrace::video {

Network::Network(const model::PictureModelOptions& options, RunContext& context)
    : model(model::open_picture_model(options, [&context] { return context.cancel.cancelled(); })),
      requests(options.requests > 0 ? static_cast<int>(options.requests) : context.executor.threads()),
      session(model.file, {.input = model.input_shape(),
                           .precision = options.precision,
                           .threads = context.executor.threads(),
                           .requests = requests,
                           .channels_last = model.layout == model::TensorLayout::nhwc,
                           .cache = context.sandbox == SandboxMode::all ? "" : cache_path("models"),
                           .cancel = &context.cancel}),
      outputs(model::check_one_mask(options, model, session.outputs()).classes.size()) {
  const model::Session::Memory measured = session.measure();
  memory = measured.model + measured.request * static_cast<std::uint64_t>(requests);
  reservation = context.budget.reserve(memory, "the network");
}

Network& Networks::first(const VideoOptions& options, RunContext& context) {
  if (!first_) first_ = std::make_unique<Network>(options.network, context);
  return *first_;
}

// The fast network has its own card. Options for the other network do not apply to it.
Network& Networks::fast(const VideoOptions& options, RunContext& context) {
  if (fast_) return *fast_;
  model::PictureModelOptions fast = options.network;
  fast.model = options.fast_model;
  fast.card.clear();
  fast.input.reset();
  fast.activation.reset();
  fast.window.reset();
  fast.threshold.reset();
  fast_ = std::make_unique<Network>(fast, context);
  return *fast_;
}

}  // namespace millrace::video
