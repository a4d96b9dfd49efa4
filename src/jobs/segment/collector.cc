#include "src/jobs/segment/collector.h"

#include <algorithm>

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

Bytes Collector::needs(const Options& options, const Setup& setup, const Cutter& cutter, bool sums_in_file) {
  const auto width = static_cast<std::uint64_t>(cutter.x().size());
  const std::uint64_t classes = setup.classes.size();
  // The overlay's picture is decoded a second time, beside the first.
  const Bytes overlay = options.write.overlay ? cutter.decoder_memory() + kAhead + Bytes{6 * width} : Bytes{};
  return overlay +
         Bytes{window::Blend::bytes(cutter.y(), cutter.x(), static_cast<int>(classes), sums_in_file) +
               width * classes * sizeof(float) +
               ResultWriter::bytes(options, setup, static_cast<int>(width), static_cast<int>(cutter.y().size()))};
}

std::uint64_t Collector::first_row(const window::Axis& y, const std::optional<Saved>& saved) {
  if (!saved || saved->next_row >= y.starts().size()) return 0;
  const std::int64_t top = y.starts()[saved->next_row];
  return y.covering(top, top + 1).first;
}

Collector::Collector(const Options& options, const Setup& setup, const Collecting& of, Unfinished& unfinished)
    : options_(options),
      y_(of.y),
      x_(of.x),
      name_(of.name),
      source_(of.source),
      unfinished_(unfinished),
      store_(of.sums_in_file ? std::make_unique<SumFile>(unfinished.folder(of.name)) : nullptr),
      blend_(y_, x_, static_cast<int>(setup.classes.size()), options.importance, store_.get()),
      writer_(options, setup, of.name, static_cast<int>(of.x.size()), static_cast<int>(of.y.size()), unfinished,
              of.saved ? (check(*of.saved), &*of.saved) : nullptr),
      row_(setup.classes.size() * static_cast<std::size_t>(of.x.size())),
      written_before_(of.saved ? static_cast<std::int64_t>(of.saved->rows) : 0),
      ended_before_(of.saved ? of.saved->next_row : 0),
      window_row_(first_row(y_, of.saved)),
      next_(std::max<std::int64_t>(y_.starts()[window_row_] - y_.before(), 0)),
      windows_(of.saved ? of.saved->windows : 0),
      between_saves_(of.between_saves) {}

// Rows are saved where a row of windows begins.
void Collector::check(const Saved& saved) const {
  const auto& starts = y_.starts();
  if (saved.next_row == 0 || saved.next_row >= starts.size() ||
      static_cast<std::int64_t>(saved.rows) != starts[saved.next_row] - y_.before())
    throw Failure(ErrorCode::bad_data, "this checkpoint is of another picture", name_);
}

void Collector::open_photo(const std::string& path, RunContext& context) {
  if (!options_.write.overlay) return;
  auto file = FileReader::open(path, FileReader::Hashing::off).or_throw();
  const std::string state = state_text(*file);
  photo_ = PictureRows::open(std::move(file), decode_options(options_.files, context), kAhead).or_throw();
  if (!source_.starts_with(state) || photo_->info().width != x_.size() || photo_->info().height != y_.size())
    throw Failure(ErrorCode::conflict, "it was changed while it was worked at", path, "run the same command again");
  if (photo_->is_held_whole()) photo_->spool(unfinished_.folder(name_));
  photo_row_.resize(photo_->row_bytes());
  pixels_.resize(static_cast<std::size_t>(x_.size()) * 3);
  for (std::int64_t k = 0; k < written_before_; ++k) photo_->take(1, photo_row_.data()).or_throw();
}

void Collector::add(std::size_t row, std::size_t column, const float* result) {
  end_rows_before(row);
  blend_.add(row, column, result);
  if (row >= ended_before_) ++windows_;
}

// Rows of windows before this one will not be added to.
void Collector::end_rows_before(std::size_t row) {
  while (window_row_ < row) {
    ++window_row_;
    const std::int64_t whole = std::min(blend_.whole_before(window_row_) - y_.before(), y_.size());
    for (; next_ < whole; ++next_) {
      blend_.take_row(next_, row_.data());
      // Of the rows that are written already, windows are missing: they make room for those behind them.
      if (next_ < written_before_) continue;
      if (photo_) take_pixels();
      writer_.append(row_, blend_.weights(), pixels_);
    }
    if (window_row_ <= ended_before_) continue;
    writer_.mark();
    if (window_row_ < y_.starts().size()) save();
  }
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
  Saved out;
  out.source = source_;
  out.rows = static_cast<std::uint64_t>(next_);
  out.next_row = window_row_;
  out.windows = windows_;
  writer_.save(out);
  unfinished_.save(name_, out);
  saved_at_ = Clock::now();
  saving_takes_ = saved_at_ - begin;
}

Outcome<PictureResult> Collector::finish(PictureResult result) {
  end_rows_before(y_.starts().size());
  result.width = static_cast<int>(x_.size());
  result.height = static_cast<int>(y_.size());
  result.windows = windows_;
  if (failed_) return *failed_;
  result.left_out = y_.starts().size() * x_.starts().size() - windows_;
  return writer_.finish(std::move(result));
}

}  // namespace millrace::segment
