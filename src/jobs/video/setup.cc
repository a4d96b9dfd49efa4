#include "src/jobs/video/setup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/device/cpu/machine.h"
#include "src/io/file/own.h"
#include "src/io/file/reader.h"
#include "src/pipeline/chain.h"

namespace millrace::video {
namespace {

// Of a film of gigabytes a few parts: whoever cuts one, or encodes it anew, changes its size or its front.
std::string fingerprint_of(const film::FilmFile& film) {
  constexpr std::uint64_t kParts = 16, kBytes = 1 << 16;
  std::vector<std::uint8_t> bytes(kParts * kBytes);
  std::size_t got = 0;
  for (std::uint64_t k = 0; k < kParts; ++k) {
    const std::uint64_t last = film.state.size > kBytes ? film.state.size - kBytes : 0;
    const ssize_t n = ::pread(film.file->get(), bytes.data() + got, kBytes, static_cast<off_t>(last * k / (kParts - 1)));
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return fmt::format("{} bytes, {:016x}", film.state.size, short_hash(std::span(bytes.data(), got)));
}

std::string text_of(const Encoding& encoding) {
  std::string out;
  for (const auto& candidate : encoding.options.candidates) {
    out += fmt::format("{}{}", out.empty() ? "" : ", or ", candidate.name);
    for (const auto& [key, value] : candidate.options) out += fmt::format(" {}={}", key, value);
  }
  return out;
}

std::array<std::uint8_t, 3> tint_of(const model::PictureModel& model) {
  for (const auto& label : model.labels())
    if (label.drawn) return label.color;
  return model::class_color(1);
}

}  // namespace

Setup::Network::Network(const Options& options, const film::Shape& shape, int rotation, RunContext& context)
    : model(model::open_picture_model(options.network, [&context] { return context.cancel.cancelled(); })),
      requests(options.network.requests > 0 ? static_cast<int>(options.network.requests) : context.executor.threads()),
      session(model.file, {.input = model.input_shape(),
                           .precision = options.network.precision,
                           .threads = context.executor.threads(),
                           .requests = requests,
                           .channels_last = model.layout == model::Layout::nhwc,
                           .cache = cache_path("models")}),
      outputs(model::check_outputs(options.network, model, session.outputs())),
      view(shape, rotation, model) {
  const model::Session::Memory takes = session.measure();
  memory = takes.model + takes.request * static_cast<std::uint64_t>(requests);
  paid = context.budget.reserve(memory, "the network");
}

Setup::Setup(const Options& options, RunContext& context) {
  check(options);
  const auto cancelled = [&context] { return context.cancel.cancelled(); };
  const Bytes limit = context.budget.limit();
  film = film::open_film(options.input(), options.stream ? static_cast<int>(*options.stream) : -1, limit, cancelled);
  composition.show = options.shown();
  composition.film = film.shape;
  composition.film.colors = film::filled_in(film.shape, filled_in);
  composition.shown = shown_shape(composition.show, composition.film);
  container = film::container_of(options.output);
  encoding = choose_encoding(options, composition.shown, container, film);
  composition.made = encoding.options.shape;
  composition.background = options.background;
  muxer = std::make_unique<film::FilmMuxer>(film, container, choice_name(encoding.codec), limit, cancelled);
  if (!options.network.model.empty()) {
    network = std::make_unique<Network>(options, composition.film, film.rotation, context);
    composition.tint = tint_of(network->model);
    composition.mask_width = network->view.mask_width();
    composition.mask_height = network->view.mask_height();
  }
  plan_memory(options, context);
}

void Setup::plan_memory(const Options& options, RunContext& context) {
  const Bytes stored{film::layout_of(film.shape).bytes}, made{film::layout_of(composition.made).bytes};
  const auto encoder_threads = static_cast<std::uint64_t>(options.encoder_threads);
  const auto decoder_threads = static_cast<std::uint64_t>(options.decoder_threads);
  // Pictures that others refer to, up to 16, and one a thread.
  decoder = stored * (17 + decoder_threads) + 20_MiB;
  // Those that an encoder looks ahead at, with what it makes of them.
  encoder = made * (encoder_look_ahead(encoding, options.profile) + 2 * encoder_threads + 8) + 40_MiB;
  frame = stored + made;
  if (network)
    frame += Bytes{(network->model.input_elements() + network->output_elements()) * sizeof(float) +
                   2 * static_cast<std::uint64_t>(composition.mask_width) *
                       static_cast<std::uint64_t>(composition.mask_height)};
  constexpr std::uint32_t kMoreDecoded = 3;
  const auto more_encoded = static_cast<std::uint32_t>(options.encoder_threads) + 4;
  beside = stored * kMoreDecoded + made * more_encoded;
  const Bytes all = beside + decoder + encoder;
  const Bytes left = context.budget.largest_grant();
  if (all + frame > left) {
    throw OutOfMemory(ErrorCode::out_of_memory,
                      fmt::format("pictures of {} x {} take {}, with their decoder and encoder, and {} are left",
                                  film.shape.width, film.shape.height, to_text(all + frame), to_text(left)),
                      film.path, "allow more with --memory, or take --profile fast");
  }
  tokens = chain::tokens_for(context, frame, left - all);
  // As many as keep all stages at work, and no more: a picture that waits is memory.
  const std::size_t enough = 2 * static_cast<std::size_t>(context.executor.threads()) +
                             2 * static_cast<std::size_t>(network ? network->requests : 0) + 2;
  tokens = std::min(tokens, enough);
  decoder_slots = static_cast<std::uint32_t>(tokens) + kMoreDecoded;
  encoder_slots = static_cast<std::uint32_t>(tokens) + more_encoded;
}

Attributes Setup::made_of(const Options& options) const {
  Attributes out = {{"millrace", "video run"},
                    {"film", fingerprint_of(film)},
                    {"stream", std::to_string(film.stream)},
                    {"library", film.library},
                    {"write", options.show_text == "auto" || options.show_text.empty()
                                  ? (options.shown() == Show::film ? "film" : "mask")
                                  : options.show_text},
                    {"container", container},
                    {"encoder", text_of(encoding)},
                    {"encoder-threads", std::to_string(options.encoder_threads)},
                    {"segment", fmt::format("{}", options.segment_seconds)}};
  if (network)
    for (auto& each : model::made_of(network->model, network->session)) out.push_back(std::move(each));
  return out;
}

}  // namespace millrace::video
