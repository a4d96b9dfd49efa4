#include "src/jobs/video/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/video/join.h"
#include "src/jobs/video/masking.h"
#include "src/jobs/video/pieces_writer.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/pool.h"

namespace millrace::video {
namespace {

using Clock = std::chrono::steady_clock;

class Run {
 public:
  Run(const Options& options, RunContext& context) : context_(context), setup_(options, context) {}

  Setup& setup() { return setup_; }

  Summary run(const Output& output) {
    const auto start = Clock::now();
    summary_.filled_in = setup_.filled_in;
    if (setup_.muxer) summary_.left_out = setup_.muxer->left_out();
    summary_.notes = setup_.notes;
    // Before hours of work, not behind them.
    for (const std::string& each : summary_.notes) spdlog::warn("{}", each);
    for (const auto& each : summary_.left_out) spdlog::warn("{}", film::FilmMuxer::words_of(each));
    summary_.library = setup_.film.library;
    summary_.expected = setup_.expected_frames();
    summary_.encoding = setup_.encoding.words;
    Segments segments(setup_.options.output, setup_.made_of());
    try {
      work(segments);
      context_.throw_if_cancelled();
      constexpr const char* kWhole = "film";
      const auto go_on = [this] { context_.throw_if_cancelled(); };
      if (setup_.muxer) {
        const Joined joined = join(segments, setup_, kWhole, go_on);
        summary_.moved = joined.moved;
        summary_.bytes = joined.bytes;
      } else {
        write_mattes(segments, kWhole, setup_.film.time_base, go_on);
      }
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
      summary_.counts += piece->note.counts;
      summary_.encoder = piece->packets.encoded().encoder;
      out = piece->note;
      k = piece->note.next;
    }
    summary_.taken = summary_.counts.frames;
    return out;
  }

  std::unique_ptr<film::PictureEncoder> encoder(film::PictureEncoder::Listener listener) {
    if (!setup_.muxer)
      return std::make_unique<MatteEncoder>(setup_.composition.made, setup_.encoder_slots, std::move(listener));
    return std::make_unique<film::FilmEncoder>(setup_.encoding.options, setup_.film.path, setup_.encoder_slots,
                                               context_.budget.limit(), std::move(listener), cancelled());
  }
  std::function<bool()> cancelled() const {
    return [this] { return context_.cancel.cancelled(); };
  }

  void work(const Segments& segments) {
    const std::optional<Note> last = taken(segments);
    if (last && !last->next) return;
    const film::FilmFile& film = setup_.film;
    const Reservation paid =
        context_.budget.reserve(setup_.beside + setup_.decoder + setup_.encoder, "the film's decoder and encoder");
    Frames frames(film, setup_.cut, last, [&](std::optional<std::int64_t> from) {
      return std::make_unique<film::FilmReader>(film, setup_.decoder_slots,
                                                static_cast<int>(setup_.options.decoder_threads),
                                                context_.budget.limit(), from, cancelled());
    });
    const Compositor compositor(setup_.composition, context_);
    PiecesWriter writer(segments, setup_.warm(), last, [this](auto listener) { return encoder(std::move(listener)); });
    Progress progress(context_.progress, "frames", setup_.expected_frames());
    progress.add(summary_.taken);
    chain::run(stages(frames, compositor, writer, progress), context_,
               chain::Price::fixed(setup_.frame, setup_.frame * setup_.tokens));
    context_.throw_if_cancelled();
    writer.finish(last_duration_);
    if (!last && writer.sum().frames == 0) {
      throw Failure(ErrorCode::usage, "no picture of the film lies there", "--start",
                    setup_.film.duration
                        ? fmt::format("it is {} long", time_text(setup_.film.seconds(*setup_.film.duration)))
                        : "give an earlier one");
    }
    summary_.counts += writer.sum();
    summary_.counts.errors += frames.errors_behind();
    summary_.encoder = writer.encoder();
    spdlog::debug("CPU of the encoder: {:.3f} s", writer.seconds_computed());
  }

  chain::Chain<void> stages(Frames& frames, const Compositor& compositor, PiecesWriter& writer, Progress& progress) {
    auto decoded = chain::source<Item>("decode", [&frames]() -> std::optional<Item> {
      auto frame = frames.next();
      if (!frame) return std::nullopt;
      Item out;
      out.frame = *std::move(frame);
      return out;
    });
    auto composite = chain::parallel<Item, Item>("composite", [&](Item item, Span& span) {
      if (item.frame.warm) return item;
      {
        const Wait wait(span);
        item.slot = writer.room();
      }
      auto workspace = workspaces_.take();
      const std::uint16_t* mask = item.mask ? cleaned_mask(setup_, item, workspace->cleaning) : nullptr;
      compositor.compose(item.frame.picture.pixels.get(), mask, item.slot.pixels, workspace->compositor);
      item.mask.reset();
      return item;
    });
    auto encode = chain::sink<Item>(
        "encode",
        [&](Item item, Span&) {
          if (item.frame.warm) return;
          last_duration_ = item.frame.picture.duration;
          writer.add({std::move(item.frame), item.slot, item.reused, item.by_fast_model});
          progress.add(1);
        },
        "--profile fast, or more --encoder-threads");
    if (!setup_.has_masks()) return std::move(decoded) | std::move(composite) | std::move(encode);

    const auto each = [this](const char* name, void (Masking::*step)(Item&)) {
      return chain::parallel<Item, Item>(name, [this, step](Item item, Span&) {
        (masking_.*step)(item);
        return item;
      });
    };
    const auto in_order = [this](const char* name, void (Masking::*step)(Item&)) {
      return chain::ordered<Item, Item>(name, [this, step](Item item, Span&) {
        (masking_.*step)(item);
        return item;
      });
    };
    constexpr const char* kRemedy = "a smaller model, --reuse 0.03, or --precision bf16 where the CPU has it";
    auto prepared = std::move(decoded) | each("to the network's colours", &Masking::prepare);
    if (!setup_.first)
      return std::move(prepared) | in_order("over time", &Masking::settle) | std::move(composite) | std::move(encode);
    auto asked = std::move(prepared) | in_order("what still does", &Masking::decide) |
                 chain::submit<Item>(
                     "network", setup_.first->requests(),
                     [this](Item& item, std::function<void(std::exception_ptr)> done) {
                       masking_.begin_first(item, std::move(done));
                     },
                     kRemedy) |
                 each("mask", &Masking::look_closer);
    if (setup_.second || setup_.options.look_closer) {
      asked = std::move(asked) |
              chain::submit<Item>(
                  "network, once more", setup_.network->requests,
                  [this](Item& item, std::function<void(std::exception_ptr)> done) {
                    masking_.begin_second(item, std::move(done));
                  },
                  kRemedy) |
              each("mask, once more", &Masking::finish);
    }
    return std::move(asked) | in_order("over time", &Masking::settle) | std::move(composite) | std::move(encode);
  }

  struct Workspace {
    Compositor::Workspace compositor;
    matte::CleaningWorkspace cleaning;
  };

  RunContext& context_;
  Setup setup_;
  Masking masking_{setup_, context_};
  Pool<Workspace> workspaces_{[] { return std::make_unique<Workspace>(); }};
  std::int64_t last_duration_ = 0;
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
               {"frames",
                film.frames == 0 ? std::string("nobody says how many") : fmt::format("about {}", grouped(film.frames))},
               {"encoder", setup.encoding.words}};
  if (!setup.filled_in.empty())
    out.lines.push_back({"filled in, as the film does not say", fmt::format("{}", fmt::join(setup.filled_in, ", "))});
  if (setup.network)
    out.lines.push_back({"network", fmt::format("{}, {}, {} x {}, {} in it at once", setup.network->session.runtime(),
                                                setup.network->session.precision(), setup.network->model.width,
                                                setup.network->model.height, setup.network->requests)});
  for (const std::string& each : setup.notes) out.lines.push_back({"not kept", each});
  std::size_t left_out = 0;
  if (setup.muxer) {
    for (const auto& each : setup.muxer->left_out()) out.lines.push_back({"left out", film::FilmMuxer::words_of(each)});
    left_out = setup.muxer->left_out().size();
  }
  out.figures = {{"width", film.shape.width}, {"height", film.shape.height},     {"frames", film.frames},
                 {"rate", film.rate.value()}, {"encoder", setup.encoding.words}, {"left_out", left_out}};
  out.memory = {{"the program itself", 20_MiB}};
  for (const auto& [name, network] :
       {std::pair("the network", setup.network.get()), {"the fast network", setup.fast_network.get()}})
    if (network != nullptr) out.memory.push_back({name, network->memory});
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
