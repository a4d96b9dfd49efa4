#include "src/jobs/segment/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/jobs/results_folder.h"
#include "src/jobs/segment/collector.h"
#include "src/jobs/segment/folder_files.h"
#include "src/jobs/segment/prepared_run.h"
#include "src/jobs/segment/previous_run.h"
#include "src/jobs/segment/reserve_after.h"
#include "src/jobs/segment/work_folder.h"
#include "src/memory/object_pool.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::segment {
namespace {

// Error that ends the run, as results cannot be written: the image is not the cause.
class OutputError : public Failure {
 public:
  using Failure::Failure;
};

// Image in progress.
struct ImageInProgress {
  ImageInProgress(const Options& options, const Setup& setup, const SegmentInput& of, RunContext& context)
      : input(of), cutter(options, setup, of.file.path, of.name, context) {}

  const SegmentInput& input;
  Cutter cutter;
  std::optional<ResumeState> resume_state;  // checkpoint to resume from
  Reservation reservation;
  std::optional<Collector> collector;
};

// Window of an image; or, without a window, the outcome of an image.
struct Window {
  std::size_t picture = 0;
  std::shared_ptr<ImageInProgress> of;
  std::size_t row = 0, column = 0;
  std::shared_ptr<WindowBuffers> buffers;
  std::optional<Error> failed;
  std::optional<PictureResult> done;     // results of an earlier run
  bool elsewhere = false;                // true if another run has claimed the image
  std::optional<Cutter::Finished> last;  // set after the last window
};

class Run {
 public:
  Run(const Options& options, RunContext& context)
      : options_(options),
        context_(context),
        prepared_(options, context),
        networks_(prepared_.networks()),
        setup_(prepared_.setup()),
        inputs_(prepared_.inputs()),
        previous_run_(options, setup_, context) {}

  SegmentSummary run() {
    const Stopwatch watch;
    const Attributes made = make_provenance(options_, setup_, networks_.ensemble());
    claim_folder(options_.output, made, kWorkFolderName);
    const std::string text = millrace::json_of(made);
    work_folder_.emplace(
        options_.output,
        fmt::format("{:016x}", short_hash(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()))),
        options_.shard_spec);
    find_name_collisions();
    summary_.unusable = inputs_.unreadable;
    check_folder_files(options_, setup_);
    try {
      work();
      context_.throw_if_cancelled();
      end();
    } catch (const Failure& failure) {
      throw Failure(work_folder_->restore_user_paths(failure.error()));
    }
    summary_.seconds = watch.seconds();
    summary_.cache_failure = networks_.ensemble().cache_failure();
    summary_.runtime = prepared_.session().runtime();
    summary_.precision = prepared_.session().precision();
    summary_.precision_decision = prepared_.precision_decision();
    summary_.peak = resident_memory().peak;
    summary_.network = networks_.reserved_bytes();
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
                                     while (next < inputs_.pictures.size() && !options_.shard_spec.has_shard(next))
                                       ++next;
                                     return next < inputs_.pictures.size() ? std::optional(next++) : std::nullopt;
                                   }) |
        chain::expand<std::size_t, Window>("decode and cut", [&](std::size_t k) { return windows_of(k); }) |
        chain::submit<Window>(
            "network", networks_.requests(),
            [&](Window& window, std::function<void(std::exception_ptr)> done) {
              if (!window.buffers) return done(nullptr);
              networks_.submit_window(*window.buffers, std::move(done));
            },
            "a smaller --overlap, or --precision bf16 if the CPU supports it") |
        chain::sink<Window>("blend and write", [&](Window window, Span&) { collect(std::move(window)); });
    networks_.run_cancellable(context_.cancel, [&] {
      chain::run(stages, context_, chain::MemoryCost::fixed(networks_.window_bytes(), networks_.in_flight()));
    });
    context_.helpers.end_idle();
  }

  chain::ItemGenerator<Window> windows_of(std::size_t k) {
    return [this, k, begun = false, ended = false,
            of = std::shared_ptr<ImageInProgress>()](bool& later) mutable -> std::optional<Window> {
      if (ended) return std::nullopt;
      Window out;
      out.picture = k;
      const auto end_with = [&](Window window) {
        ended = true;
        of.reset();
        return std::optional(std::move(window));
      };
      try {
        const SegmentInput& input = inputs_.pictures[k];
        if (!of) {
          if (const auto other = name_collisions_.find(input.name); other != name_collisions_.end())
            throw Failure(ErrorCode::unsupported,
                          fmt::format("its name has the same hash as that of '{}'", escape_unprintable(other->second)),
                          input.file.path, "rename it");
          out.elsewhere = !work_folder_->claim(input.name);
          if (out.elsewhere) return end_with(std::move(out));
          if (const std::size_t most = 255 - previous_run_.max_suffix_bytes(); file_name(input.name).size() > most) {
            throw Failure(
                ErrorCode::unsupported,
                fmt::format("its name is too long for the names of its results (the limit is {} bytes)", most),
                input.file.path, "give it a shorter name");
          }
          if (auto reason = check_file_size(input.file, options_.files.max_size))
            throw Failure(ErrorCode::too_large, *reason, input.file.path, "");
          if ((out.done = previous_run_.find_finished(input))) {
            // Removes unfinished results and errors of earlier runs.
            work_folder_->drop(input.name);
            return end_with(std::move(out));
          }
          of = std::make_shared<ImageInProgress>(options_, setup_, input, context_);
          // A square has no checkpoints: it is finished quickly, or begun again.
          if (setup_.preprocess == model::Preprocess::none)
            of->resume_state = work_folder_->resume_state(input.name, source_of(*of));
          if (of->resume_state || setup_.preprocess != model::Preprocess::none)
            out.done = ResultWriter::publish(
                options_, setup_, input.name, *work_folder_,
                [&](const PictureResult& written) { return previous_run_.is_current(input, written); });
          if (out.done) return end_with(std::move(out));
          ResultWriter::check_names(options_, setup_, input.name, *work_folder_);
        }
        if (!begun) {
          const auto in_file = reserve_memory(*of);
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
      } catch (const OutputError&) {
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

  // Reserves the memory of an image. Returns nothing while an image before it holds that memory. Else returns true if
  // the sums must lie in a file, as they do not fit into memory.
  std::optional<bool> reserve_memory(ImageInProgress& of) {
    const bool in_file = prepared_.memory_cost(of.cutter, false) > context_.budget.largest_grant();
    auto reservation =
        reserve_after(latest_, prepared_.memory_cost(of.cutter, in_file), context_.budget, of.input.file.path);
    if (!reservation) return std::nullopt;
    of.reservation = *std::move(reservation);
    return in_file;
  }

  // Returns the provenance of the image's rows. Rows are never resumed with another CPU or runtime, even if a folder
  // may hold results of several.
  std::string source_of(const ImageInProgress& of) const {
    return setup_.runtime_and_cpu.empty() ? of.cutter.source()
                                          : fmt::format("{}, by {}", of.cutter.source(), setup_.runtime_and_cpu);
  }

  // Starts an image, at the checkpoint of an earlier run if there is one that can be resumed.
  void begin(ImageInProgress& of, bool sums_in_file) {
    const std::string& name = of.input.name;
    const PixelRows& rows = of.cutter.rows();
    CollectorParameters how{name,
                            of.cutter.y(),
                            of.cutter.x(),
                            source_of(of),
                            rows.info().width,
                            rows.info().height,
                            nullptr,
                            std::move(of.resume_state),
                            sums_in_file};
    const bool squared = setup_.preprocess != model::Preprocess::none;
    // The position of the square is known only after the whole photograph was read.
    if (squared) begin_cutting(of, 0);
    how.crop = rows.crop();
    try {
      if (how.resume_state) {
        try {
          of.collector.emplace(options_, setup_, how, *work_folder_);
          ++resumed_;
          progress_->add(how.resume_state->windows);
        } catch (const Failure& failure) {
          if (failure.error().code == ErrorCode::io) throw;
          how.resume_state.reset();
        }
      }
      if (!how.resume_state) {
        work_folder_->drop(name);
        of.collector.emplace(options_, setup_, how, *work_folder_);
      }
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::io) throw;
      throw OutputError(failure.error());
    }
    if (!squared) begin_cutting(of, Collector::first_row(of.cutter.y(), how.resume_state));
    of.collector->open_photo(of.input.file.path, context_);
    if (of.cutter.rows().is_spooled()) ++spooled_;
    opened_windows_ += of.cutter.windows();
    ++opened_;
    estimate_total();
  }

  void begin_cutting(ImageInProgress& of, std::uint64_t first_row) {
    const bool writes = of.cutter.rows().is_spooled();
    try {
      of.cutter.begin(first_row, writes ? work_folder_->folder(of.input.name) : "");
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::io || !writes) throw;
      throw OutputError(failure.error());
    }
  }

  // Estimates the total of windows: images that are not open yet are assumed to be like those that were.
  void estimate_total() {
    const std::uint64_t mine =
        options_.shard_spec ? inputs_.pictures.size() / options_.shard_spec.of : inputs_.pictures.size();
    const std::uint64_t left = mine > opened_ + passed_ ? mine - opened_ - passed_ : 0;
    progress_->set_total(opened_windows_ + (opened_ > 0 ? left * (opened_windows_ / opened_) : 0));
  }

  // Finishes an image. Its checkpoint may be damaged; then its failure lets the next run begin it again.
  static Outcome<PictureResult> finish(Window& window, PictureResult result) {
    try {
      return window.of->collector->finish(std::move(result));
    } catch (const Failure& failure) {
      if (failure.error().code == ErrorCode::io) throw;
      return failure.error();
    }
  }

  // Finds images whose names have the same hash: they would be processed in one folder.
  void find_name_collisions() {
    std::map<std::uint64_t, const SegmentInput*> first;
    for (const SegmentInput& input : inputs_.pictures) {
      const auto [at, is_new] = first.emplace(WorkFolder::number(input.name), &input);
      if (!is_new) name_collisions_.emplace(input.name, at->second->file.path);
    }
  }

  void collect(Window window) {
    const SegmentInput& input = inputs_.pictures[window.picture];
    const auto fail = [&](Error error) {
      if (error.subject.empty()) error.subject = input.file.path;
      if (name_collisions_.count(input.name) == 0) {  // else they belong to the other image
        work_folder_->fail(input.name, error);
        work_folder_->release_image(input.name);
      }
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
      ++summary_.already_complete;
      ++passed_;
    } else {
      result.name = input.name;
      result.hash = hex_of_bytes(window.last->picture.hash);
      result.roi = window.last->roi;
      if (const FieldOfView* field = window.of->cutter.rows().field()) result.field = *field;
      if (window.last->picture.decoded.damaged) result.damage = window.last->picture.decoded.damage;
      result.unshown = window.last->picture.decoded.unshown;
      Outcome<PictureResult> finished = finish(window, std::move(result));
      if (!finished) {
        // An image that was being finished when the run was cancelled is not unusable.
        context_.throw_if_cancelled();
        return fail(finished.error());
      }
      result = *std::move(finished);
      progress_->add(result.left_out);
    }
    work_folder_->release_image(input.name);
    result.path = input.file.path;
    result.name = input.name;
    if (!result.damage.empty()) ++summary_.damaged;
    if (result.unshown.pages || result.unshown.frames) ++summary_.of_several;
    if (result.unshown.depth) ++summary_.deep;
    if (result.unshown.transparency) ++summary_.transparent;
    if (!result.cuts.empty()) ++summary_.cut;
    summary_.left_out += result.left_out;
    summary_.pictures.push_back(std::move(result));
  }

  // Writes the tables, which cover all images in the folder, whichever run made them; the last run's tables are
  // complete.
  void end() {
    summary_.resumed = resumed_;
    summary_.spooled = spooled_;
    summary_.is_last = work_folder_->is_last();
    if (!summary_.is_last) return;
    remove_stale_temporaries(options_.output);
    // Without any image, no empty table replaces an earlier one.
    if (inputs_.pictures.empty()) return work_folder_->remove();
    std::vector<PictureResult> all;
    std::vector<Error> elsewhere;  // errors of other runs that share the folder
    std::size_t mine = 0;
    for (const SegmentInput& input : inputs_.pictures) {
      if (mine < summary_.pictures.size() && summary_.pictures[mine].name == input.name) {
        all.push_back(summary_.pictures[mine++]);
      } else if (options_.shard_spec) {
        if (auto why = work_folder_->read_failure(input.name)) {
          const bool is_mine = std::any_of(summary_.unusable.begin(), summary_.unusable.end(), [&](const Error& error) {
            return escape_unprintable(error.message()) == *why;
          });
          if (!is_mine) elsewhere.push_back({ErrorCode::bad_data, *std::move(why), "", ""});
          continue;
        }
        auto made = previous_run_.find_finished(input);
        if (!made) {
          ++summary_.missing;
          continue;
        }
        made->path = input.file.path;
        made->name = input.name;
        all.push_back(*std::move(made));
      }
    }
    elsewhere.insert(elsewhere.begin(), summary_.unusable.begin(), summary_.unusable.end());
    if (all.empty() && !options_.shard_spec && remove_run_record_if_empty(options_.output))
      return work_folder_->remove();
    summary_.report = write_folder_files(options_,
                                         {all, elsewhere, setup_, options_.files, options_.output,
                                          make_provenance(options_, setup_, networks_.ensemble())},
                                         context_);
    // Unfinished images of other runs are kept.
    if (summary_.missing == 0 || work_folder_->is_empty()) work_folder_->remove();
  }

  const Options& options_;
  RunContext& context_;
  PreparedRun prepared_;
  Networks& networks_;
  const Setup& setup_;
  const SegmentInputs& inputs_;
  const PreviousRun previous_run_;
  std::optional<WorkFolder> work_folder_;
  std::map<std::string, std::string> name_collisions_;  // by name, the path of the other image
  ObjectPool<WindowBuffers> buffers_{[] { return std::make_unique<WindowBuffers>(); }};
  std::weak_ptr<ImageInProgress> latest_;
  Progress* progress_ = nullptr;
  // Counts of images: opened or resumed, and their windows; and images that needed no work. The first are changed by
  // the source only, the last by the sink and read by both.
  std::uint64_t opened_ = 0, opened_windows_ = 0, resumed_ = 0, spooled_ = 0;
  std::atomic<std::uint64_t> passed_{0};
  SegmentSummary summary_;
};

}  // namespace

SegmentSummary run(const Options& options, RunContext& context) {
  if (options.output.empty())
    throw Failure(ErrorCode::usage, "an output is needed", "-o", "name a folder, for example -o masks");
  return Run(options, context).run();
}

}  // namespace millrace::segment
