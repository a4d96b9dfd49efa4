#include "src/jobs/video/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/video/frames.h"
#include "src/jobs/video/join.h"
#include "src/jobs/video/pieces_writer.h"
#include "src/jobs/video/setup.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/pool.h"

namespace millrace::video {
namespace {

using Clock = std::chrono::steady_clock;

// What a picture needs on its way, kept for the next one.
struct Buffers {
  Buffer<float> input, output;
  Buffer<std::uint16_t> mask;
};
struct Workspaces {
  ModelView::Workspace view;
  Compositor::Workspace compositor;
};

struct Item {
  FilmFrame frame;
  std::shared_ptr<Buffers> buffers;
  film::FilmEncoder::Slot slot;
};

class Run {
 public:
  Run(const Options& options, RunContext& context) : options_(options), context_(context), setup_(options, context) {}

  Setup& setup() { return setup_; }

  Summary run(const Output& output) {
    const auto start = Clock::now();
    summary_.filled_in = setup_.filled_in;
    summary_.left_out = setup_.muxer->left_out();
    summary_.library = setup_.film.library;
    summary_.encoding = setup_.encoding.words;
    Segments segments(options_.output, setup_.made_of(options_));
    try {
      work(segments);
      context_.throw_if_cancelled();
      constexpr const char* kWhole = "film";
      const Joined joined =
          join(segments, *setup_.muxer, setup_.composition.made, kWhole, [this] { context_.throw_if_cancelled(); });
      summary_.frames = joined.frames;
      summary_.bytes = joined.bytes;
      segments.publish(kWhole, output.replaces());
      segments.remove();
    } catch (const Failure& failure) {
      const Error error = segments.in_words(failure.error());
      if (!segments.has_pieces()) segments.remove();
      throw Failure(error);
    }
    summary_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (setup_.network) {
      summary_.runtime = setup_.network->session.runtime();
      summary_.precision = setup_.network->session.precision();
      summary_.not_cached = setup_.network->session.not_cached();
    }
    return std::move(summary_);
  }

 private:
  // What earlier runs have made, from the beginning on without a gap.
  std::optional<Note> taken(const Segments& segments) {
    std::optional<Note> out;
    std::optional<std::uint64_t> k = 0;
    while (k) {
      auto piece = segments.piece(*k);
      if (!piece) break;
      summary_.taken += piece->note.frames;
      summary_.damaged += piece->note.damaged;
      summary_.retimed += piece->note.retimed;
      summary_.encoder = piece->packets.encoded().encoder;
      out = piece->note;
      k = piece->note.next;
    }
    return out;
  }

  void work(const Segments& segments) {
    const auto cancelled = [this] { return context_.cancel.cancelled(); };
    const std::optional<Note> last = taken(segments);
    if (last && !last->next) return;
    const film::FilmFile& film = setup_.film;
    const Bytes limit = context_.budget.limit();
    const Reservation paid = context_.budget.reserve(setup_.beside + setup_.decoder + setup_.encoder,
                                                     "the film's decoder and encoder");
    Frames frames(film, options_.segment_seconds, last, [&](std::optional<std::int64_t> from) {
      return std::make_unique<film::FilmReader>(film, setup_.decoder_slots, static_cast<int>(options_.decoder_threads),
                                                limit, from, cancelled);
    });
    PiecesWriter writer(segments, setup_.encoding.options, film.path, setup_.encoder_slots, limit, cancelled);
    const Compositor compositor(setup_.composition, context_);
    Setup::Network* network = setup_.network.get();
    Progress progress(context_.progress, "frames", film.frames);
    progress.add(summary_.taken);
    std::int64_t last_duration = 0;
    auto stages =
        chain::source<Item>("decode",
                            [&]() -> std::optional<Item> {
                              auto frame = frames.next();
                              if (!frame) return std::nullopt;
                              Item out;
                              out.frame = *std::move(frame);
                              return out;
                            }) |
        chain::parallel<Item, Item>("to the network's colours",
                                    [&](Item item, Span&) {
                                      if (network == nullptr) return item;
                                      item.buffers = buffers_.take();
                                      item.buffers->input.resize(network->model.input_elements());
                                      item.buffers->output.resize(network->output_elements());
                                      auto workspace = workspaces_.take();
                                      network->view.input(item.frame.picture.pixels.get(), item.buffers->input.data(),
                                                          workspace->view);
                                      return item;
                                    }) |
        chain::submit<Item>(
            "network", network == nullptr ? 1 : network->requests,
            [network](Item& item, std::function<void(std::exception_ptr)> done) {
              if (network == nullptr) return done(nullptr);
              network->session.submit(item.buffers->input.data(), {item.buffers->output.data()},
                                      [done = std::move(done)](const Error* error) {
                                        done(error == nullptr ? nullptr : std::make_exception_ptr(Failure(*error)));
                                      });
            },
            "a smaller model, or --precision bf16 where the CPU has it") |
        chain::parallel<Item, Item>(
            "composite",
            [&](Item item, Span& span) {
              auto workspace = workspaces_.take();
              const std::uint16_t* mask = nullptr;
              if (network != nullptr) {
                auto& buffers = *item.buffers;
                buffers.mask.resize(static_cast<std::size_t>(network->view.mask_width()) *
                                    static_cast<std::size_t>(network->view.mask_height()));
                network->view.mask(buffers.output.span(), buffers.mask.data());
                mask = buffers.mask.data();
              }
              {
                const Wait wait(span);
                item.slot = writer.room();
              }
              compositor.compose(item.frame.picture.pixels.get(), mask, item.slot.pixels, workspace->compositor);
              item.buffers.reset();
              return item;
            }) |
        chain::sink<Item>(
            "encode",
            [&](Item item, Span&) {
              last_duration = item.frame.picture.duration;
              writer.add(std::move(item.frame), item.slot);
              progress.add(1);
            },
            "--profile fast, or more --encoder-threads");
    chain::run(stages, context_, chain::Price::fixed(setup_.frame, setup_.frame * setup_.tokens));
    context_.throw_if_cancelled();
    writer.finish(last_duration);
    summary_.damaged += writer.damaged();
    summary_.retimed += writer.retimed();
    summary_.errors = frames.errors();
    summary_.encoder = writer.encoder();
    spdlog::debug("CPU: decoder {:.3f} s, encoder {:.3f} s", frames.seconds_computed(), writer.seconds_computed());
  }

  const Options& options_;
  RunContext& context_;
  Setup setup_;
  Pool<Buffers> buffers_{[] { return std::make_unique<Buffers>(); }};
  Pool<Workspaces> workspaces_{[] { return std::make_unique<Workspaces>(); }};
  Summary summary_;
};

}  // namespace

Plan plan(const Options& options, RunContext& context) {
  Run run(options, context);
  const Setup& setup = run.setup();
  const film::FilmFile& film = setup.film;
  Plan out;
  out.lines = {{"film", fmt::format("{} x {}, {} bits, {}, {}", film.shape.width, film.shape.height, film.shape.depth,
                                    film.codec, film::words_of(setup.composition.film.colors))},
               {"frames", film.frames == 0 ? std::string("nobody says how many")
                                           : fmt::format("about {}", grouped(film.frames))},
               {"encoder", setup.encoding.words}};
  if (!setup.filled_in.empty()) {
    std::string words;
    for (const std::string& each : setup.filled_in) words += (words.empty() ? "" : ", ") + each;
    out.lines.push_back({"filled in, as the film does not say", words});
  }
  if (setup.network)
    out.lines.push_back({"network", fmt::format("{}, {}, {} x {}, {} in it at once", setup.network->session.runtime(),
                                                setup.network->session.precision(), setup.network->model.width,
                                                setup.network->model.height, setup.network->requests)});
  for (const auto& each : setup.muxer->left_out())
    out.lines.push_back({"left out", fmt::format("stream {}, {} in {}: {}", each.stream.index, each.stream.type,
                                                 each.stream.codec, each.why)});
  out.figures = {{"width", film.shape.width},
                 {"height", film.shape.height},
                 {"frames", film.frames},
                 {"rate", film.rate.value()},
                 {"encoder", setup.encoding.words},
                 {"left_out", setup.muxer->left_out().size()}};
  out.memory = {{"the program itself", 20_MiB}};
  if (setup.network) out.memory.push_back({"the network", setup.network->memory});
  out.memory.push_back({"the decoder", setup.decoder});
  out.memory.push_back({"the encoder", setup.encoder});
  out.memory.push_back({"pictures in flight", setup.beside + setup.frame * setup.tokens});
  out.threads = context.executor.threads();
  out.in_flight = setup.tokens;
  out.allowed = context.budget.limit();
  return out;
}

Summary run(const Options& options, const Output& output, RunContext& context) {
  return Run(options, context).run(output);
}

}  // namespace millrace::video
