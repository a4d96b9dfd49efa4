#include "src/jobs/segment/collector.h"

#include <algorithm>
#include <cmath>

#include "src/base/text.h"

namespace millrace::segment {
namespace {

constexpr Bytes kAhead = 1_MiB;
constexpr int kShareOfSaving = 20;

class SumFile : public window::SumStore {
 public:
  explicit SumFile(const std::string& folder) : file_(folder) {}
  void read(std::uint64_t at, std::span<float> out) override {
    file_.read_at(at * sizeof(float), std::as_writable_bytes(out));
  }
  void write(std::uint64_t at, std::span<const float> sums) override {
    file_.write_at(at * sizeof(float), std::as_bytes(sums));
  }

 private:
  ScratchFile file_;
};

}  // namespace

Bytes Collector::memory_cost(const Setup& setup, const Cutter& cutter, bool sums_in_file) {
  const auto width = static_cast<std::uint64_t>(cutter.rows().info().width),
             along = static_cast<std::uint64_t>(cutter.x().size());
  const std::uint64_t channels = setup.channels();
  Bytes out{window::WindowBlender::bytes(cutter.y(), cutter.x(), static_cast<int>(channels), sums_in_file) +
            std::max(width, along) * channels * sizeof(float)};
  if (setup.preprocess == model::Preprocess::none) return out;
  return out + Bytes{along * along * (channels * sizeof(float) + 1)};
}

Bytes Collector::memory_cost_with_files(const Options& options, const Setup& setup, const Cutter& cutter,
                                        bool sums_in_file) {
  const PictureInfo& info = cutter.rows().info();
  Bytes out =
      memory_cost(setup, cutter, sums_in_file) + Bytes{ResultWriter::bytes(options, setup, info.width, info.height)};
  // The image for the overlay is decoded a second time, in parallel with the first.
  const bool has_overlay = options.write.overlay && setup.has(model::ModelTask::segmentation);
  if (has_overlay) out = out + info.decoder_memory + kAhead + Bytes{6 * static_cast<std::uint64_t>(info.width)};
  return out;
}

std::uint64_t Collector::first_row(const window::WindowAxis& y, const std::optional<ResumeState>& resume_state) {
  if (!resume_state || resume_state->next_row >= y.starts().size()) return 0;
  const std::int64_t top = y.starts()[resume_state->next_row];
  return y.covering(top, top + 1).first;
}

Collector::Collector(const Options& options, const Setup& setup, const CollectorParameters& of, WorkFolder& work_folder)
    : Collector(options, setup, of, &work_folder,
                (check(of), std::make_unique<ResultWriter>(options, setup, of.name, of.width, of.height, work_folder,
                                                           of.resume_state ? &*of.resume_state : nullptr))) {}

Collector::Collector(const Options& options, const Setup& setup, const CollectorParameters& of,
                     std::unique_ptr<ResultSink> results)
    : Collector(options, setup, of, nullptr, std::move(results)) {}

Collector::Collector(const Options& options, const Setup& setup, const CollectorParameters& of, WorkFolder* work_folder,
                     std::unique_ptr<ResultSink> results)
    : options_(options),
      setup_(setup),
      y_(of.y),
      x_(of.x),
      name_(of.name),
      source_(of.source),
      width_(of.width),
      height_(of.height),
      crop_(of.crop == nullptr ? std::nullopt : std::optional(*of.crop)),
      work_folder_(work_folder),
      store_(of.sums_in_file && work_folder != nullptr ? std::make_unique<SumFile>(work_folder->folder(of.name))
                                                       : nullptr),
      blend_(y_, x_, static_cast<int>(setup.channels()), options.importance, store_.get()),
      results_(std::move(results)),
      row_(setup.channels() * static_cast<std::size_t>(of.x.size())),
      heads_(setup.heads.size()),
      written_before_(of.resume_state ? static_cast<std::int64_t>(of.resume_state->rows) : 0),
      ended_before_(of.resume_state ? of.resume_state->next_row : 0),
      window_row_(first_row(y_, of.resume_state)),
      next_(std::max<std::int64_t>(y_.starts()[window_row_] - y_.before(), 0)),
      windows_(of.resume_state ? of.resume_state->windows : 0),
      between_saves_(of.between_saves) {
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    if (setup.heads[h].task == model::ModelTask::keypoints) heads_[h].peaks.resize(setup.heads[h].classes.size());
    if (!of.resume_state) continue;
    if (of.resume_state->heads[h].peaks.size() != heads_[h].peaks.size())
      throw Failure(ErrorCode::bad_data, "the checkpoint has other keypoints", name_);
    heads_[h].peaks = of.resume_state->heads[h].peaks;
    heads_[h].votes = of.resume_state->heads[h].votes;
  }
  if (!crop_) return;
  const auto square = static_cast<std::size_t>(y_.size() * x_.size());
  planes_.resize(setup.channels() * square);
  is_covered_.resize(square);
}

// Checks a checkpoint: rows are saved only where a row of windows begins.
void Collector::check(const CollectorParameters& of) {
  if (!of.resume_state) return;
  const auto& starts = of.y.starts();
  if (of.resume_state->next_row == 0 || of.resume_state->next_row >= starts.size() ||
      static_cast<std::int64_t>(of.resume_state->rows) != starts[of.resume_state->next_row] - of.y.before())
    throw Failure(ErrorCode::bad_data, "the checkpoint belongs to another picture", of.name);
}

void Collector::open_photo(const std::string& path, RunContext& context) {
  if (!options_.write.overlay || !setup_.has(model::ModelTask::segmentation)) return;
  auto file = FileReader::open(path).or_throw();
  const std::string state = format_file_state(*file);
  photo_ = PictureRows::open(std::move(file), decode_options(options_.files, context), kAhead).or_throw();
  if (!source_.starts_with(state) || photo_->info().width != width_ || photo_->info().height != height_)
    throw Failure(ErrorCode::conflict, "the file changed while it was being processed", path,
                  "run the same command again");
  if (photo_->is_held_whole()) photo_->spool(work_folder_->folder(name_));
  photo_row_.resize(photo_->row_bytes());
  pixels_.resize(static_cast<std::size_t>(width_) * 3);
  for (std::int64_t k = 0; k < written_before_; ++k) photo_->take(1, photo_row_.data()).or_throw();
}

void Collector::add(std::size_t row, std::size_t column, const model::Prediction& result) {
  end_rows_before(row);
  if (setup_.channels() > 0) blend_.add(row, column, result.maps.data());
  // The windows of a row that is repeated to resume behind it are already counted.
  if (row >= ended_before_) {
    ++windows_;
    for (std::size_t h = 0; h < result.votes.size(); ++h) {
      heads_[h].votes.differ += result.votes[h].differ;
      heads_[h].votes.any += result.votes[h].any;
    }
  }
  for (std::size_t h = 0; h < heads_.size(); ++h)
    if (!setup_.heads[h].is_map()) heads_[h].numbers = result.numbers[h];
}

// Completes the rows of pixels to which no more windows are added, as all further windows lie in `row` or below.
void Collector::end_rows_before(std::size_t row) {
  while (window_row_ < row) {
    ++window_row_;
    const std::int64_t whole =
        setup_.channels() == 0 ? 0 : std::min(blend_.complete_rows_before(window_row_) - y_.before(), y_.size());
    for (; next_ < whole; ++next_) {
      blend_.take_row(next_, row_.data());
      // Rows that are already written lack windows; taking them makes room for the rows after them.
      if (next_ < written_before_) continue;
      activate();
      find_peaks(next_);
      if (crop_) {
        const auto width = static_cast<std::size_t>(x_.size()), at = static_cast<std::size_t>(next_) * width;
        for (std::size_t c = 0; c < setup_.channels(); ++c)
          std::copy_n(row_.data() + c * width, width, planes_.data() + c * is_covered_.size() + at);
        for (std::size_t j = 0; j < width; ++j) is_covered_[at + j] = blend_.weights()[j] > 0 ? 1 : 0;
        continue;
      }
      if (photo_) take_pixels();
      results_->append(row_, blend_.weights(), pixels_);
    }
    if (window_row_ <= ended_before_ || crop_) continue;
    results_->mark();
    if (work_folder_ != nullptr && window_row_ < y_.starts().size()) save();
  }
}

// Applies the activation. Pixels outside of all windows get probability 0.
void Collector::activate() {
  const auto width = static_cast<std::size_t>(x_.size());
  const auto maps = model::maps_of(setup_.heads, std::span(row_));
  for (std::size_t h = 0; h < maps.size(); ++h)
    if (!setup_.is_activated && !maps[h].empty()) setup_.heads[h].activate(maps[h]);
  for (std::size_t j = 0; j < width; ++j) {
    if (blend_.weights()[j] > 0) continue;
    for (std::size_t c = 0; c < setup_.channels(); ++c) row_[c * width + j] = 0;
  }
}

// Updates the maxima of the keypoint maps. The first of equal values counts, and in a square only pixels on the
// photograph. A NaN is kept, and reported at the end.
void Collector::find_peaks(std::int64_t y) {
  const auto width = static_cast<std::size_t>(x_.size());
  std::size_t begin = 0, end = width;
  if (crop_) {
    const auto lies_on = [](double place, int side) { return place >= -0.5 && place <= side - 0.5; };
    const auto column_lies_on = [&](std::size_t j) {
      return lies_on(crop_->to_photograph({static_cast<double>(j), 0}).x, width_);
    };
    if (!lies_on(crop_->to_photograph({0, static_cast<double>(y)}).y, height_)) return;
    while (begin < width && !column_lies_on(begin)) ++begin;
    while (end > begin && !column_lies_on(end - 1)) --end;
  }
  const auto maps = model::maps_of(setup_.heads, std::span<const float>(row_));
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    for (std::size_t c = 0; c < heads_[h].peaks.size(); ++c) {
      std::optional<Peak>& peak = heads_[h].peaks[c];
      const float* at = maps[h].data() + c * width;
      for (std::size_t j = begin; j < end; ++j) {
        if (!(blend_.weights()[j] > 0) || (peak && (std::isnan(peak->value) || at[j] <= peak->value))) continue;
        peak = {static_cast<double>(j) + 0.5, static_cast<double>(y) + 0.5, static_cast<double>(at[j])};
      }
    }
  }
}

// Maps points and probabilities from the square to the photograph; masks are made there.
void Collector::project_to_photograph() {
  const auto width = static_cast<std::size_t>(width_), channels = setup_.channels();
  for (HeadResult& head : heads_)
    for (std::optional<Peak>& peak : head.peaks) {
      if (!peak) continue;
      // Coordinates in the crop refer to centers of pixels.
      const fundus::FundusPoint at = crop_->to_photograph({peak->x - 0.5, peak->y - 0.5});
      peak->x = at.x + 0.5;
      peak->y = at.y + 0.5;
    }
  if (channels == 0) return;
  const fundus::CropInverse way(*crop_, width_, height_);
  row_.resize(channels * width);
  std::vector<float> weights(width);
  for (std::int32_t y = 0; y < height_; ++y) {
    for (std::size_t c = 0; c < channels; ++c)
      way.row(planes_.data() + c * is_covered_.size(), y, row_.data() + c * width);
    for (std::int32_t x = 0; x < width_; ++x) weights[static_cast<std::size_t>(x)] = is_seen(way, x, y) ? 1.0F : 0.0F;
    if (photo_) take_pixels();
    results_->append(row_, weights, pixels_);
  }
  results_->mark();
}

// True if the nearest pixel of the square lay in a window.
bool Collector::is_seen(const fundus::CropInverse& way, std::int32_t x, std::int32_t y) const {
  if (!way.has(x, y)) return false;
  const fundus::FundusPoint at =
      crop_->from_photograph(fundus::FundusPoint{static_cast<double>(x), static_cast<double>(y)});
  const auto nearest = [this](double place) {
    return std::clamp<std::int64_t>(std::llround(place), 0, crop_->side - 1);
  };
  return is_covered_[static_cast<std::size_t>(nearest(at.y) * crop_->side + nearest(at.x))] != 0;
}

void Collector::take_pixels() {
  if (failed_) return;
  if (auto taken = photo_->take(1, photo_row_.data()); !taken.ok()) {
    failed_ = taken.error();
    return;
  }
  if (photo_->info().channels == 3) {
    std::copy(photo_row_.begin(), photo_row_.end(), pixels_.begin());
    return;
  }
  for (std::size_t j = 0; j < photo_row_.size(); ++j) std::fill_n(&pixels_[3 * j], 3, photo_row_[j]);
}

void Collector::save() {
  const auto begin = Clock::now();
  const auto between = between_saves_ == between_saves_.zero()
                           ? between_saves_
                           : std::max(between_saves_, kShareOfSaving * saving_takes_);
  if (next_ == 0 || begin - saved_at_ < between) return;
  ResumeState out;
  out.source = source_;
  out.rows = static_cast<std::uint64_t>(next_);
  out.next_row = window_row_;
  out.windows = windows_;
  results_->save(out);
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    out.heads[h].peaks = heads_[h].peaks;
    out.heads[h].votes = heads_[h].votes;
  }
  work_folder_->save(name_, out);
  saved_at_ = Clock::now();
  saving_takes_ = saved_at_ - begin;
}

Outcome<PictureResult> Collector::finish(PictureResult result) {
  end_rows_before(y_.starts().size());
  if (crop_) project_to_photograph();
  result.runtime_and_cpu = setup_.runtime_and_cpu;
  result.width = width_;
  result.height = height_;
  result.heads = heads_;
  // If reading the image was cancelled or failed, its rows are gray. The error is reported at the end.
  if (photo_ && !failed_) {
    const auto finished = photo_->finish();
    if (!finished) {
      failed_ = finished.error();
    } else if (hex_of_bytes(finished->hash) != result.hash) {
      failed_ =
          Error{ErrorCode::conflict, "the file changed while it was being processed", "", "run the same command again"};
    }
  }
  result.windows = windows_;
  if (failed_) return *failed_;
  result.left_out = y_.starts().size() * x_.starts().size() - windows_;
  return results_->finish(std::move(result));
}

}  // namespace millrace::segment
