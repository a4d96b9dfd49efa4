#include "src/jobs/segment/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/own.h"
#include "src/jobs/results_folder.h"
#include "src/jobs/segment/collector.h"
#include "src/jobs/segment/cutter.h"
#include "src/jobs/segment/inputs.h"
#include "src/jobs/segment/page.h"
#include "src/jobs/segment/unfinished.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/pool.h"

namespace millrace::segment {
namespace {

// Where results cannot be written the run ends: it is not the picture's fault.
class CannotWrite : public Failure {
 public:
  using Failure::Failure;
};

// A picture on its way.
struct Segmenting {
  Segmenting(const Options& options, const Setup& setup, const Input& of, RunContext& context)
      : input(of), cutter(options, setup, of.file.path, of.name, context) {}

  const Input& input;
  Cutter cutter;
  std::optional<Saved> saved;  // from where it goes on
  Reservation paid;
  std::optional<Collector> collector;
};

struct WindowBuffers {
  Buffer<float> input;
  model::Prediction made;
};

// One window; or what there is to say of a picture without one.
struct Window {
  std::size_t picture = 0;
  std::shared_ptr<Segmenting> of;
  std::size_t row = 0, column = 0;
  std::shared_ptr<WindowBuffers> buffers;
  std::optional<Error> failed;
  std::optional<PictureResult> done;     // by an earlier run
  bool elsewhere = false;                // another run has it
  std::optional<Cutter::Finished> last;  // behind all windows
};

class Run {
 public:
  Run(const Options& options, RunContext& context)
      : options_(options),
        context_(context),
        setup_(set_up(options, [&context] { return context.cancel.cancelled(); })),
        inputs_(find_inputs(options, context)) {
    model::PictureModelOptions said = options.network;
    if (options.least_dice) {
      agreement_ = agree(options, setup_, inputs_, context);
      said.precision = agreement_->precision;
    }
    const model::Ensemble::Options how = ensemble_options(options, context);
    requests_ = how.requests;
    ensemble_.emplace(setup_.models, said, how);
    complete(options, setup_, *ensemble_);
    if (window_bytes() > context.budget.largest_grant()) {
      throw OutOfMemory(ErrorCode::out_of_memory,
                        fmt::format("a window of {} x {} takes {}, and {} are left", setup_.width, setup_.height,
                                    to_text(window_bytes()), to_text(context.budget.largest_grant())),
                        "--window", "allow more with --memory, or take a smaller window");
    }
    const model::Session::Memory takes = ensemble_->measure();
    network_ = takes.model + takes.request * static_cast<std::uint64_t>(requests_);
    paid_ = context.budget.reserve(network_, setup_.models.size() > 1 ? "the networks" : "the network");
  }

  Bytes network() const { return network_; }
  Bytes window_bytes() const { return ensemble_->bytes(); }
  // Of what is left, for all of them: pictures need the rest.
  Bytes in_flight() const { return Bytes{context_.budget.largest_grant().count / 2}; }
  const Setup& setup() const { return setup_; }
  const Inputs& inputs() const { return inputs_; }
  int requests() const { return requests_; }
  const model::Session& session() const { return ensemble_->session(0); }
  const std::optional<Agreement>& agreement() const { return agreement_; }

  // Of those that can be used, the one that takes most; of many, among the largest files.
  struct Largest {
    std::string path;
    std::int64_t width = 0, height = 0;
    std::uint64_t windows = 0;
    Bytes needs;
    bool sums_in_file = false;
  };
  Largest largest(Bytes in_flight) {
    constexpr std::size_t kMostOpened = 200;
    std::vector<const Input*> all;
    for (const Input& input : inputs_.pictures) all.push_back(&input);
    std::stable_sort(all.begin(), all.end(),
                     [](const Input* a, const Input* b) { return a->file.size > b->file.size; });
    if (all.size() > kMostOpened) all.resize(kMostOpened);
    Largest out;
    for (const Input* input : all) {
      context_.throw_if_cancelled();
      try {
        const Cutter cutter(options_, setup_, input->file.path, input->name, context_);
        const bool in_file = needs(cutter, false) + in_flight > context_.budget.largest_grant();
        const Bytes takes = needs(cutter, in_file);
        if (takes <= out.needs) continue;
        out = {input->file.path, cutter.rows().info().width, cutter.rows().info().height, cutter.windows(), takes,
               in_file};
      } catch (const Failure&) {
        // It will be an outcome, and told then.
      }
    }
    return out;
  }

  Summary run() {
    const auto start = Clock::now();
    claim_folder(options_.output, made_of(options_, setup_, *ensemble_), kUnfinishedFolder);
    unfinished_.emplace(options_.output, static_cast<bool>(options_.share));
    summary_.unusable = inputs_.unreadable;
    if (options_.report) page_file();  // that it can be written, before the work
    try {
      work();
      context_.throw_if_cancelled();
      end();
    } catch (const Failure& failure) {
      throw Failure(unfinished_->in_words(failure.error()));
    }
    summary_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    summary_.not_cached = session().not_cached();
    summary_.runtime = session().runtime();
    summary_.precision = session().precision();
    summary_.agreement = agreement_;
    summary_.peak = resident_memory().peak;
    summary_.network = network_;
    summary_.setup = setup_;
    return std::move(summary_);
  }

 private:
  void work() {
    Progress progress(context_.progress, "segmenting windows", 0);
    progress_ = &progress;
    std::size_t next = 0;
    auto stages =
        chain::source<std::size_t>("pictures",
                                   [&]() -> std::optional<std::size_t> {
                                     while (next < inputs_.pictures.size() && !options_.share.has(next)) ++next;
                                     return next < inputs_.pictures.size() ? std::optional(next++) : std::nullopt;
                                   }) |
        chain::expand<std::size_t, Window>("decode and cut", [&](std::size_t k) { return windows_of(k); }) |
        chain::submit<Window>(
            "network", requests_,
            [&](Window& window, std::function<void(std::exception_ptr)> done) {
              if (!window.buffers) return done(nullptr);
              ensemble_->submit(window.buffers->input.data(), window.buffers->made,
                                [done = std::move(done)](const Error* error) {
                                  done(error == nullptr ? nullptr : std::make_exception_ptr(Failure(*error)));
                                });
            },
            "a smaller --overlap, or --precision bf16 where the CPU has it") |
        chain::sink<Window>("blend and write", [&](Window window, Span&) { collect(std::move(window)); });
    chain::run(stages, context_, chain::Price::fixed(window_bytes(), in_flight()));
    context_.helpers.end_idle();
  }

  chain::Parts<Window> windows_of(std::size_t k) {
    return [this, k, begun = false, ended = false,
            of = std::shared_ptr<Segmenting>()](bool& later) mutable -> std::optional<Window> {
      if (ended) return std::nullopt;
      Window out;
      out.picture = k;
      const auto end_with = [&](Window window) {
        ended = true;
        of.reset();
        return std::optional(std::move(window));
      };
      try {
        const Input& input = inputs_.pictures[k];
        if (!of) {
          out.elsewhere = !unfinished_->claim(input.name);
          if (out.elsewhere) return end_with(std::move(out));
          constexpr std::size_t kMostBytesOfName = 255 - std::string_view(".probability.zarr").size();
          if (file_name(input.name).size() > kMostBytesOfName) {
            throw Failure(
                ErrorCode::unsupported,
                fmt::format("its name is longer than {} bytes, and its results have longer ones", kMostBytesOfName),
                input.file.path, "give it a shorter one");
          }
          if (auto reason = too_large_to_read(input.file, options_.files.max_size))
            throw Failure(ErrorCode::too_large, *reason, input.file.path, "");
          if ((out.done = done_before(input))) {
            // Whatever an earlier run has left or said of it.
            unfinished_->drop(input.name);
            return end_with(std::move(out));
          }
          of = std::make_shared<Segmenting>(options_, setup_, input, context_);
          // A square is done in a moment, or begun anew.
          if (setup_.preprocess == model::Preprocess::none)
            of->saved = unfinished_->saved(input.name, of->cutter.source());
          if (of->saved || setup_.preprocess != model::Preprocess::none)
            out.done = ResultWriter::publish(options_, setup_, input.name, *unfinished_);
          if (out.done) return end_with(std::move(out));
          ResultWriter::check_names(options_, setup_, input.name, *unfinished_);
        }
        if (!begun) {
          const auto in_file = pay_for(*of);
          if (!in_file) {
            later = true;
            return std::nullopt;
          }
          begin(*of, *in_file);
          latest_ = of;
          begun = true;
        }
        auto buffers = buffers_.take();
        buffers->input.resize(setup_.input_elements());
        out.of = of;
        if (of->cutter.next(buffers->input.data(), out.row, out.column)) {
          out.buffers = std::move(buffers);
          return out;
        }
        out.last = of->cutter.finish();
        return end_with(std::move(out));
      } catch (const CannotWrite&) {
        throw;
      } catch (const OutOfMemory& failure) {
        out.failed = failure.error();
      } catch (const Failure& failure) {
        if (failure.error().code == ErrorCode::cancelled || context_.cancel.cancelled()) return std::nullopt;
        out.failed = failure.error();
      }
      return end_with(std::move(out));
    };
  }

  Bytes needs(const Cutter& cutter, bool sums_in_file) const {
    return cutter.needs() + Collector::needs(options_, setup_, cutter, sums_in_file);
  }

  // Nothing while one before it holds what it needs; whether its sums lie in a file, as they do not fit into memory.
  std::optional<bool> pay_for(Segmenting& of) {
    const Bytes most = context_.budget.largest_grant();
    const bool in_file = needs(of.cutter, false) > most;
    const Bytes wanted = needs(of.cutter, in_file);
    // Whoever was before it gives back what it held a moment after it is seen to be gone.
    for (int k = 0; wanted <= most && k < 1000; ++k) {
      if (auto paid = context_.budget.try_reserve(wanted, "a picture")) {
        of.paid = *std::move(paid);
        return in_file;
      }
      if (!latest_.expired()) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw Failure(ErrorCode::out_of_memory,
                  fmt::format("its windows take {}, and {} are left", to_text(wanted), to_text(most)),
                  of.input.file.path, "allow more with --memory");
  }

  // From where an earlier run was stopped, if it left anything that can be gone on with.
  void begin(Segmenting& of, bool sums_in_file) {
    const std::string& name = of.input.name;
    const Rows& rows = of.cutter.rows();
    Collecting how{
        name,    of.cutter.y(),       of.cutter.x(), of.cutter.source(), rows.info().width, rows.info().height,
        nullptr, std::move(of.saved), sums_in_file};
    const bool squared = setup_.preprocess != model::Preprocess::none;
    // Where the square lies is known when all of the photograph was looked at.
    if (squared) cut_from(of, 0);
    how.crop = rows.crop();
    try {
      if (how.saved) {
        try {
          of.collector.emplace(options_, setup_, how, *unfinished_);
          ++resumed_;
          progress_->add(how.saved->windows);
        } catch (const Failure& failure) {
          if (failure.error().code == ErrorCode::io) throw;
          how.saved.reset();
        }
      }
      if (!how.saved) {
        unfinished_->drop(name);
        of.collector.emplace(options_, setup_, how, *unfinished_);
      }
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::io) throw;
      throw CannotWrite(failure.error());
    }
    if (!squared) cut_from(of, Collector::first_row(of.cutter.y(), how.saved));
    of.collector->open_photo(of.input.file.path, context_);
    if (of.cutter.rows().is_spooled()) ++spooled_;
    opened_windows_ += of.cutter.windows();
    ++opened_;
    guess_total();
  }

  void cut_from(Segmenting& of, std::uint64_t first_row) {
    const bool writes = of.cutter.rows().is_spooled();
    try {
      of.cutter.begin(first_row, writes ? unfinished_->folder(of.input.name) : "");
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::io || !writes) throw;
      throw CannotWrite(failure.error());
    }
  }

  // Pictures that are not open yet are as those that were.
  void guess_total() {
    const std::uint64_t mine = options_.share ? inputs_.pictures.size() / options_.share.of : inputs_.pictures.size();
    const std::uint64_t left = mine > opened_ + passed_ ? mine - opened_ - passed_ : 0;
    progress_->set_total(opened_windows_ + (opened_ > 0 ? left * (opened_windows_ / opened_) : 0));
  }

  std::optional<PictureResult> done_before(const Input& input) const {
    auto earlier = earlier_result(record_path(options_.output, input.name), setup_);
    if (!earlier) return std::nullopt;
    struct stat there {};
    for (const Product& product : products_of(options_, setup_, input.name, earlier->width, earlier->height))
      // A pipe, or nothing, is no result; a folder is one of Zarr.
      if (::stat(product.path.c_str(), &there) != 0 ||
          (product.format == RasterFormat::zarr ? !S_ISDIR(there.st_mode)
                                                : !S_ISREG(there.st_mode) || there.st_size == 0))
        return std::nullopt;
    const auto hash_of = [this](const std::string& path) {
      return hex_of_bytes(hash_file(path, Links::followed, [this] { return context_.cancel.cancelled(); }).or_throw());
    };
    if (earlier->hash != hash_of(input.file.path)) return std::nullopt;
    const std::string roi = region_path(options_, input.name);
    if (earlier->roi != (roi.empty() ? "" : hash_of(roi))) return std::nullopt;
    return earlier;
  }

  void collect(Window window) {
    const Input& input = inputs_.pictures[window.picture];
    const auto fail = [&](Error error) {
      if (error.subject.empty()) error.subject = input.file.path;
      unfinished_->fail(input.name, error);
      unfinished_->let_go(input.name);
      summary_.unusable.push_back(std::move(error));
    };
    if (window.buffers) {
      window.of->collector->add(window.row, window.column, window.buffers->made);
      ++summary_.windows;
      progress_->add(1);
      return;
    }
    if (window.failed) return fail(*std::move(window.failed));
    if (window.elsewhere) {
      ++summary_.elsewhere;
      ++passed_;
      return;
    }
    PictureResult result;
    if (window.done) {
      result = *std::move(window.done);
      ++summary_.taken;
      ++passed_;
    } else {
      result.name = input.name;
      result.hash = hex_of_bytes(window.last->picture.hash);
      result.roi = window.last->roi;
      if (const FieldOfView* field = window.of->cutter.rows().field()) result.field = *field;
      if (window.last->picture.decoded.damaged) result.damage = window.last->picture.decoded.damage;
      Outcome<PictureResult> finished = window.of->collector->finish(std::move(result));
      if (!finished) return fail(finished.error());
      result = *std::move(finished);
      progress_->add(result.left_out);
    }
    unfinished_->let_go(input.name);
    result.path = input.file.path;
    result.name = input.name;
    if (!result.damage.empty()) ++summary_.damaged;
    if (!result.cuts.empty()) ++summary_.cut;
    summary_.left_out += result.left_out;
    summary_.pictures.push_back(std::move(result));
  }

  // The table is of all pictures in the folder, whichever run has made them: the last one's is whole.
  void end() {
    summary_.resumed = resumed_;
    summary_.spooled = spooled_;
    summary_.is_last = unfinished_->is_last();
    if (!summary_.is_last) return;
    remove_litter(options_.output);
    // A table of nothing takes the place of none.
    if (inputs_.pictures.empty()) return unfinished_->remove();
    std::vector<PictureResult> all;
    std::size_t mine = 0;
    for (const Input& input : inputs_.pictures) {
      if (mine < summary_.pictures.size() && summary_.pictures[mine].name == input.name) {
        all.push_back(summary_.pictures[mine++]);
      } else if (options_.share) {
        if (unfinished_->has_failed(input.name)) continue;
        auto made = done_before(input);
        if (!made) {
          ++summary_.missing;
          continue;
        }
        made->path = input.file.path;
        all.push_back(*std::move(made));
      }
    }
    const auto has = [this](auto... tasks) {
      return std::any_of(setup_.heads.begin(), setup_.heads.end(),
                         [&](const model::Head& head) { return ((head.task == tasks) || ...); });
    };
    write_file(path_in(options_.output, kTableFile), csv_of(table_of(all, setup_)));
    if (has(model::Task::keypoints)) write_file(path_in(options_.output, kPointsFile), csv_of(points_of(all, setup_)));
    if (has(model::Task::classification, model::Task::regression))
      write_file(path_in(options_.output, kValuesFile), csv_of(values_of(all, setup_)));
    write_page(all);
    // What other runs have begun stays for them.
    if (summary_.missing == 0 || unfinished_->is_empty()) unfinished_->remove();
  }

  Output page_file() const {
    Outputs outputs({.overwrite = false, .prove = false});
    return outputs.add("--report", path_in(options_.output, kReportFile), page_kind());
  }

  // A page that an earlier run wrote would tell of other results than those that lie beside it.
  void write_page(const std::vector<PictureResult>& all) {
    const std::string path = path_in(options_.output, kReportFile);
    if (!options_.report && !Outputs({.overwrite = false, .prove = false}).is_own(path, page_kind())) return;
    page_file().write(
        page_of({all, summary_.unusable, setup_, options_.files, made_of(options_, setup_, *ensemble_)}, context_));
    summary_.report = path;
  }

  const Options& options_;
  RunContext& context_;
  Setup setup_;
  const Inputs inputs_;
  int requests_ = 1;
  std::optional<Agreement> agreement_;
  std::optional<model::Ensemble> ensemble_;
  Bytes network_;
  Reservation paid_;
  std::optional<Unfinished> unfinished_;
  Pool<WindowBuffers> buffers_{[] { return std::make_unique<WindowBuffers>(); }};
  std::weak_ptr<Segmenting> latest_;
  Progress* progress_ = nullptr;
  // Of pictures: that are open or were; that needed no work. By the source, or both sides.
  std::uint64_t opened_ = 0, opened_windows_ = 0, resumed_ = 0, spooled_ = 0;
  std::atomic<std::uint64_t> passed_{0};
  Summary summary_;
};

}  // namespace

Plan plan(const Options& options, RunContext& context) {
  Run run(options, context);
  const std::size_t tokens = chain::tokens_for(context, run.window_bytes(), run.in_flight());
  const Setup& setup = run.setup();
  const Run::Largest largest = run.largest(run.window_bytes() * tokens);
  Plan out;
  out.lines = {
      {"pictures", grouped(run.inputs().pictures.size())},
      {"window", fmt::format("{} x {}, {} in the network at once", setup.width, setup.height, run.requests())},
      {"network", fmt::format("{}{}, {}", setup.models.size() > 1 ? fmt::format("{} in ", setup.models.size()) : "",
                              run.session().runtime(), run.session().precision())}};
  if (setup.preprocess != model::Preprocess::none)
    out.lines.push_back(
        {"square", fmt::format("{0} x {0} of each picture ({1})", setup.size, choice_name(setup.preprocess))});
  if (options.flips != model::Flips::none)
    out.lines.push_back({"turned over", fmt::format("{}: each window {} times", choice_name(options.flips),
                                                    options.flips == model::Flips::hw ? 4 : 2)});
  if (run.agreement()) out.lines.push_back({"precision", run.agreement()->why});
  out.figures = {{"pictures", run.inputs().pictures.size()},
                 {"window", {setup.height, setup.width}},
                 {"requests", run.requests()},
                 {"runtime", run.session().runtime()},
                 {"precision", run.session().precision()},
                 {"models", setup.models.size()}};
  out.memory = {{"the program itself", 20_MiB},
                {"the network", run.network()},
                {"windows in flight", run.window_bytes() * tokens}};
  if (largest.windows > 0) {
    out.lines.push_back({"largest picture", fmt::format("{}: {} x {}, {} windows{}", printable(largest.path),
                                                        largest.width, largest.height, grouped(largest.windows),
                                                        largest.sums_in_file ? ", its sums in a scratch file" : "")});
    out.figures["largest"] = {{"width", largest.width},
                              {"height", largest.height},
                              {"windows", largest.windows},
                              {"sums_in_file", largest.sums_in_file}};
    out.memory.push_back({"its windows and results", largest.needs});
  }
  out.threads = context.executor.threads();
  out.in_flight = tokens;
  out.allowed = context.budget.limit();
  return out;
}

Summary run(const Options& options, RunContext& context) {
  if (options.output.empty())
    throw Failure(ErrorCode::usage, "an output is needed", "-o", "name a folder, for example -o masks");
  return Run(options, context).run();
}

}  // namespace millrace::segment
