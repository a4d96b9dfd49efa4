#include "src/jobs/video/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/video/earlier.h"
#include "src/jobs/video/join.h"
#include "src/jobs/video/masking.h"
#include "src/jobs/video/pieces_writer.h"
#include "src/memory/pool.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::video {
namespace {

std::optional<Earlier> earlier_at(const Options& options, RunContext& context) {
  return options.shown() == Show::files ? earlier_masks(options.output) : earlier_film(options.output, context);
}

class Run {
 public:
  Run(const Options& options, const Place& place, Networks& networks, RunContext& context, std::string what)
      : place_(place), context_(context), what_(std::move(what)), setup_(options, networks, context) {}

  Setup& setup() { return setup_; }

  // Returns the counts of an existing output with the same provenance; nothing if there is no output. Throws
  // Failure(conflict) if its provenance differs.
  std::optional<Earlier> made_already() const {
    // With --part an output that may be replaced is checked too: other runs may have merged it in the meantime.
    const bool may_go = !place_.taken && share() && place_.replaces.looked_at;
    if (!place_.taken && !may_go) return std::nullopt;
    const std::string& path = setup_.options.output;
    auto earlier = earlier_at(setup_.options, context_);
    if (earlier && earlier->digest == setup_.digest()) return earlier;
    if (may_go || place_.is_earlier) return std::nullopt;
    if (!earlier) throw Failure(*place_.taken);
    std::string different = "of other things";
    if (!setup_.muxer) {
      const auto then = attributes_in_json(path_in(path, RunFolder::kRunFile));
      if (then) different = differences(*then, setup_.made_of());
    }
    throw Failure(ErrorCode::conflict, "it is there and was made otherwise: " + different, path, place_.taken->remedy);
  }

  Summary run() {
    const Stopwatch watch;
    summary_.filled_in = setup_.filled_in;
    if (setup_.muxer) summary_.left_out = setup_.muxer->left_out();
    summary_.notes = setup_.notes;
    summary_.library = setup_.film.library;
    summary_.expected = setup_.expected_frames();
    summary_.encoding = setup_.encoding.words;
    if (setup_.network) {
      summary_.runtime = setup_.network->session.runtime();
      summary_.precision = setup_.network->session.precision();
      summary_.not_cached = setup_.network->session.not_cached();
    }
    if (const auto earlier = made_already()) {
      RunFolder left(setup_.options.output);
      remove_left(left, setup_.made_of());
      take(*earlier);
      return std::move(summary_);
    }
    // Warns before hours of work, not after them.
    for (const std::string& each : summary_.notes) spdlog::warn("{}", each);
    for (const auto& each : summary_.left_out) spdlog::warn("{}", film::FilmMuxer::words_of(each));
    work();
    if (summary_.state == Summary::State::before) return std::move(summary_);
    summary_.seconds = watch.seconds();
    return std::move(summary_);
  }

 private:
  void take(const Earlier& earlier) {
    summary_.state = Summary::State::before;
    summary_.counts = earlier.counts;
    summary_.digest = earlier.digest;
  }

  // True if another run has published the video since this run looked for it.
  bool has_been_made() {
    std::error_code error;
    const bool may_go = place_.replaces.looked_at.has_value();
    if (place_.taken || (may_go && !share()) ||
        !std::filesystem::exists(std::filesystem::symlink_status(setup_.options.output, error)))
      return false;
    const auto earlier = earlier_at(setup_.options, context_);
    if (!earlier || earlier->digest != setup_.digest()) {
      if (may_go) return false;
      throw Failure(ErrorCode::conflict, "it has appeared since this run began", setup_.options.output,
                    "move it away, or give another name, and run the same command again");
    }
    take(*earlier);
    return true;
  }

  void work() {
    Segments segments(setup_.options.output, setup_.made_of(),
                      {share(), place_.begin_anew, [this] { return has_been_made(); }});
    if (segments.is_made()) return;
    try {
      make_pieces(segments);
      if (!segments.is_last()) {
        summary_.state = Summary::State::elsewhere;
        return;
      }
      put_together(segments);
      segments.publish(kWhole, place_.replaces);
      segments.remove();
    } catch (const Failure& failure) {
      const Error error = segments.in_words(failure.error());
      if (!share() && !segments.has_pieces()) segments.remove();
      throw Failure(error);
    }
  }

  void put_together(Segments& segments) {
    const auto go_on = [this] { context_.throw_if_cancelled(); };
    constexpr int kMostDamaged = 100;
    for (int damaged = 0;; ++damaged) {
      make_what_does_not_fit(segments);
      add_up(segments);
      summary_.digest = setup_.digest();
      const Earlier now{summary_.digest, summary_.counts};
      try {
        if (setup_.muxer) {
          const Joined joined = join(segments, setup_, kWhole, writer_text(now, setup_.network_words(makers_)), go_on);
          summary_.moved = joined.moved;
          summary_.bytes = joined.bytes;
        } else {
          write_mattes(segments, kWhole, setup_.film.time_base, setup_.made_of(), masks_note(now, makers_), go_on);
        }
        return;
      } catch (const Failure& failure) {
        const Error& error = failure.error();
        if (error.code != ErrorCode::bad_data || damaged == kMostDamaged || !segments.drop(error.subject)) throw;
        spdlog::warn("{}: a piece is not what it was when it was made, and is made once more", setup_.film.path);
        make_pieces(segments);
        if (setup_.muxer) setup_.open_muxer(context_);
      }
    }
  }

  void make_pieces(Segments& segments) {
    Progress progress(context_.progress, what_, setup_.expected_frames() / std::max<std::uint64_t>(share().of, 1));
    progress.add(made_before(segments));
    for (auto task = segments.next(0); task;) {
      const auto beyond = make(segments, *task, progress);
      segments.let_go(task->piece);
      task = beyond ? segments.next(beyond->piece) : std::nullopt;
    }
  }

  // Remakes shards that do not fit the one before. A run that began in the middle may have decoded the frames before
  // its shard differently.
  void make_what_does_not_fit(Segments& segments) {
    std::optional<std::uint64_t> last;
    while (const auto dropped = segments.drop_misfit()) {
      if (dropped == last) {
        throw Failure(ErrorCode::conflict, "two pieces of the film do not go together, each time they are made",
                      segments.path(*dropped), "remove the folder of pieces, and run it without --part");
      }
      last = dropped;
      spdlog::warn("{}: piece {} does not begin as the one before it ends, and is made once more", setup_.film.path,
                   *dropped);
      make_pieces(segments);
    }
  }

  const Share& share() const { return setup_.options.share; }

  // Returns the number of frames in shards that this run need not make.
  std::uint64_t made_before(const Segments& segments) const {
    std::uint64_t out = 0;
    for (std::uint64_t k = share().index;;) {
      const auto piece = segments.piece(k);
      if (!piece) return out;
      out += piece->note.counts.frames;
      if (!piece->note.next) return out;
      k = share() ? k + share().of : *piece->note.next;
    }
  }

  void add_up(const Segments& segments) {
    summary_.counts = {};
    makers_.clear();
    Pieces pieces(segments);
    while (const auto piece = pieces.next()) {
      summary_.counts += piece->note.counts;
      if (!piece->note.maker.empty()) makers_.insert(piece->note.maker);
      summary_.encoder = piece->packets.encoded().encoder;
    }
    summary_.taken = summary_.counts.frames - std::min(summary_.made, summary_.counts.frames);
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

  // Makes this shard, and the following ones that belong to this run. Returns the first frame after them.
  std::optional<Frames::Beyond> make(Segments& segments, const Task& task, Progress& progress) {
    const film::FilmFile& film = setup_.film;
    const Reservation paid =
        context_.budget.reserve(setup_.beside + setup_.decoder + setup_.encoder, "the film's decoder and encoder");
    Frames frames(
        film, setup_.cut, task, [&segments](std::uint64_t k) { return segments.take(k); },
        [&](std::optional<std::int64_t> from) {
          return std::make_unique<film::FilmReader>(film, setup_.decoder_slots,
                                                    static_cast<int>(setup_.options.decoder_threads),
                                                    context_.budget.limit(), from, cancelled());
        });
    if (!frames.first() || (setup_.cut.end && *frames.first() >= *setup_.cut.end)) {
      throw Failure(ErrorCode::usage, "no picture of the film lies there", "--start",
                    film.duration ? fmt::format("it is {} long", time_text(film.seconds(*film.duration)))
                                  : "give an earlier one");
    }
    const Compositor compositor(setup_.composition, context_);
    PiecesWriter writer(segments, setup_.warm(), setup_.maker(), frames,
                        [this](auto listener) { return encoder(std::move(listener)); });
    chain::run(stages(frames, compositor, writer, progress), context_,
               chain::Price::fixed(setup_.frame, setup_.frame * setup_.tokens));
    context_.throw_if_cancelled();
    writer.finish(last_duration_);
    summary_.counts += writer.sum();
    summary_.made += writer.sum().frames;
    summary_.encoder = writer.encoder();
    spdlog::debug("CPU of the encoder: {:.3f} s", writer.seconds_computed());
    return frames.beyond();
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

  // Name of the merged output in the folder of shards, until it is published.
  static constexpr const char* kWhole = "film";

  const Place& place_;
  RunContext& context_;
  const std::string what_;
  Setup setup_;
  Masking masking_{setup_, context_};
  Pool<Workspace> workspaces_{[] { return std::make_unique<Workspace>(); }};
  std::int64_t last_duration_ = 0;
  Summary summary_;
  std::set<std::string> makers_;  // runtimes and CPUs that computed the shards
};

}  // namespace

namespace {

// Adds the rate to a plan; time and size too, if the length of the video is known.
void plan_rates(Setup& setup, const Guess& guess, Plan& out) {
  const std::int64_t pixels = std::int64_t{setup.film.shape.width} * setup.film.shape.height;
  const double a_picture = guess.seconds_a_picture(pixels);
  std::string stages;
  Json figures = Json::object();
  for (const StageCost& each : guess.stages) {
    figures[each.name] = each.cpu_ms;
    stages += fmt::format("{}{} {:.2f}", stages.empty() ? "" : ", ", each.name, each.cpu_ms);
  }
  out.lines.push_back({"CPU ms a frame", stages});
  out.lines.push_back({"rate", fmt::format("about {} frames/s on {} threads", rate_text(1 / a_picture), guess.cores)});
  out.figures["stages_cpu_ms"] = figures;
  out.figures["frames_per_second"] = 1 / a_picture;
  const auto frames = static_cast<double>(setup.expected_frames());
  if (frames == 0) return;
  out.seconds = frames * a_picture / static_cast<double>(std::max<std::uint64_t>(setup.options.share.of, 1));
  double bytes = frames * guess.bytes * static_cast<double>(pixels) / static_cast<double>(guess.pixels);
  bool all = true;
  if (setup.muxer) {
    for (const film::StreamInfo& each : setup.film.streams) {
      const auto& left = setup.muxer->left_out();
      if (each.index == setup.film.stream ||
          std::any_of(left.begin(), left.end(), [&](const auto& one) { return one.stream.index == each.index; }))
        continue;
      all = all && each.bit_rate > 0;
      bytes += static_cast<double>(each.bit_rate) / 8 * frames / std::max(setup.film.rate.value(), 1e-9);
    }
  }
  out.lines.push_back({"size", fmt::format("about {}{}", to_text(Bytes{static_cast<std::uint64_t>(bytes)}),
                                           all ? "" : ", without streams that do not say how large they are")});
  out.figures["bytes"] = static_cast<std::uint64_t>(bytes);
}

}  // namespace

Plan plan(const Options& given, const Place& place, Networks& networks, std::optional<Guess>& known,
          RunContext& context) {
  Options options = given;
  check(options);
  // Checked before a network is loaded: the output's name may belong to some other file.
  if (place.taken && !place.is_earlier && !earlier_at(options, context)) throw Failure(*place.taken);
  Run run(options, place, networks, context, "frames");
  Setup& setup = run.setup();
  const film::FilmFile& film = setup.film;
  const std::uint64_t frames = setup.expected_frames();
  Plan out;
  out.lines = {{"film", fmt::format("{} x {}, {} bits, {}, {}", film.shape.width, film.shape.height, film.shape.depth,
                                    film.codec, film::words_of(setup.composition.film.colors))},
               {"frames", frames == 0 ? std::string("nobody says how many") : fmt::format("about {}", grouped(frames))},
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
  out.figures = {{"width", film.shape.width}, {"height", film.shape.height},     {"frames", frames},
                 {"rate", film.rate.value()}, {"encoder", setup.encoding.words}, {"left_out", left_out}};
  if (run.made_already()) {
    out.lines.push_back({"output", "it is there, made of the same: nothing is left to do"});
    out.seconds = 0;
  } else {
    if (!known) known = guess(setup, context);
    plan_rates(setup, *known, out);
  }
  out.memory = {{"the program itself", 20_MiB}};
  for (const auto& [name, network] :
       {std::pair("the network", setup.network), {"the fast network", setup.fast_network}})
    if (network != nullptr) out.memory.push_back({name, network->memory});
  out.memory.push_back({"the decoder", setup.decoder});
  out.memory.push_back({"the encoder", setup.encoder});
  out.memory.push_back({"pictures in flight", setup.beside + setup.frame * setup.tokens});
  out.threads = context.executor.threads();
  out.in_flight = setup.tokens;
  out.allowed = context.budget.limit();
  return out;
}

Summary run(const Options& given, const Place& place, Networks& networks, RunContext& context,
            const std::string& what) {
  Options options = given;
  check(options);
  // Checked before a network is loaded: the output's name may belong to some other file.
  if (place.taken && !place.is_earlier && !earlier_at(options, context)) throw Failure(*place.taken);
  return Run(options, place, networks, context, what).run();
}

}  // namespace millrace::video
