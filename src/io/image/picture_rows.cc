#include "src/io/image/picture_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/file/scratch_file.h"

namespace millrace {

// Ring buffer of rows between the decoder's thread and the caller.
class PictureRows::RowBuffer : public RowSink {
 public:
  explicit RowBuffer(Bytes ahead) : ahead_(ahead) {}
  ~RowBuffer() override {
    {
      const MutexLock lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void start(std::unique_ptr<FileReader> file, DecodeOptions options) {
    file_ = std::move(file);
    file_->set_cancelled([this, own = options.cancelled] { return is_abandoned() || (own && own()); });
    options.cancelled = [this, own = options.cancelled] { return is_abandoned() || (own && own()); };
    thread_ = std::thread([this, options = std::move(options)] {
      std::optional<Outcome<DecodeResult>> ended;
      try {
        ended = decode_picture(*file_, options, *this);
      } catch (const Failure& failure) {
        ended = Outcome<DecodeResult>(failure.error());
      } catch (const std::exception& error) {
        ended = Outcome<DecodeResult>(Error{ErrorCode::internal, error.what(), file_->path(), ""});
      }
      const MutexLock lock(mutex_);
      ended_ = std::move(ended);
      changed_.notify_all();
    });
  }

  // The decoder calls these on its thread.
  Outcome<void> begin(const PictureInfo& info) override {
    MutexLock lock(mutex_);
    info_ = info;
    row_bytes_ = static_cast<std::size_t>(info.width) * static_cast<std::size_t>(info.channels);
    rows_ = std::clamp<std::size_t>(ahead_.count / row_bytes_, 1, static_cast<std::size_t>(info.height));
    begun_ = true;
    changed_.notify_all();
    // The decoder may allocate its memory only when somebody asks for rows.
    while (!wanted_ && !abandoned_) changed_.wait(lock);
    if (abandoned_) return Error{ErrorCode::cancelled, "the caller stopped reading it", file_->path(), ""};
    ring_.resize(rows_ * row_bytes_);
    return {};
  }
  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    for (int k = 0; k < count; ++k) {
      MutexLock lock(mutex_);
      while (given_ - taken_ >= rows_ && !abandoned_) changed_.wait(lock);
      if (abandoned_) return;
      std::memcpy(ring_.data() + given_ % rows_ * row_bytes_, data + k * stride, row_bytes_);
      ++given_;
      changed_.notify_all();
    }
  }

  // The owner calls these.
  Outcome<void> wait_for_info() {
    MutexLock lock(mutex_);
    while (!begun_ && !ended_) changed_.wait(lock);
    if (begun_) return {};
    return ended_->ok() ? Error{ErrorCode::bad_data, "the picture has no rows", file_->path(), ""} : ended_->error();
  }
  Outcome<void> take(int count, std::uint8_t* out) {
    request_rows();
    for (int k = 0; k < count; ++k) {
      MutexLock lock(mutex_);
      if (is_spooled_ && taken_ < spooled_) {
        const std::span row(out + static_cast<std::size_t>(k) * row_bytes_, row_bytes_);
        scratch_->read_at(std::uint64_t{taken_++} * row_bytes_, std::as_writable_bytes(row));
        continue;
      }
      while (given_ <= taken_ && !ended_) changed_.wait(lock);
      if (is_spooled_ || given_ == taken_) {
        return ended_->ok()
                   ? Error{ErrorCode::bad_data, "the picture has fewer rows than its header says", file_->path(), ""}
                   : ended_->error();
      }
      std::memcpy(out + static_cast<std::size_t>(k) * row_bytes_, ring_.data() + taken_ % rows_ * row_bytes_,
                  row_bytes_);
      ++taken_;
      changed_.notify_all();
    }
    return {};
  }
  Outcome<Finished> finish() {
    request_rows();
    MutexLock lock(mutex_);
    while (!ended_) changed_.wait(lock);
    if (!ended_->ok()) return ended_->error();
    const DecodeResult result = **ended_;
    lock.unlock();  // finish_hash() asks is_abandoned()
    // The decoder's thread has finished with the file.
    auto hash = file_->finish_hash();
    if (!hash) return hash.error();
    return Finished{result, *hash};
  }

  void spool(const std::string& folder) {
    scratch_.emplace(folder);
    std::vector<std::uint8_t> row(row_bytes_);
    for (; spooled_ < static_cast<std::size_t>(info_.height) && take(1, row.data()).ok(); ++spooled_)
      scratch_->write_at(std::uint64_t{spooled_} * row_bytes_, std::as_bytes(std::span(row)));
    // The end of its thread frees the decoder's memory. The decoder's final outcome stays in `ended_`.
    thread_.join();
    ring_ = {};
    const MutexLock lock(mutex_);
    taken_ = 0;
    is_spooled_ = true;
  }

  const PictureInfo& info() const { return info_; }
  std::size_t row_bytes() const { return row_bytes_; }

 private:
  void request_rows() {
    const MutexLock lock(mutex_);
    if (std::exchange(wanted_, true)) return;
    changed_.notify_all();
  }
  bool is_abandoned() {
    const MutexLock lock(mutex_);
    return abandoned_;
  }

  const Bytes ahead_;
  std::unique_ptr<FileReader> file_;
  Mutex mutex_;
  Condition changed_;
  bool begun_ MILLRACE_GUARDED_BY(mutex_) = false, wanted_ MILLRACE_GUARDED_BY(mutex_) = false,
              abandoned_ MILLRACE_GUARDED_BY(mutex_) = false;
  PictureInfo info_;
  std::size_t row_bytes_ = 0, rows_ = 0, given_ MILLRACE_GUARDED_BY(mutex_) = 0, taken_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::vector<std::uint8_t> ring_;
  std::optional<ScratchFile> scratch_;  // rows that spool() has decoded
  bool is_spooled_ = false;
  std::size_t spooled_ = 0;
  std::optional<Outcome<DecodeResult>> ended_ MILLRACE_GUARDED_BY(mutex_);
  std::thread thread_;
};

PictureRows::PictureRows() = default;
PictureRows::~PictureRows() = default;

Outcome<std::unique_ptr<PictureRows>> PictureRows::open(std::unique_ptr<FileReader> file, DecodeOptions options,
                                                        Bytes ahead) {
  std::unique_ptr<PictureRows> out(new PictureRows);
  out->buffer_ = std::make_unique<RowBuffer>(ahead);
  out->buffer_->start(std::move(file), std::move(options));
  if (auto begun = out->buffer_->wait_for_info(); !begun.ok()) return begun.error();
  return out;
}

bool PictureRows::is_held_whole() const {
  // A decoder that holds less than this is no problem.
  constexpr Bytes kMuch = 64_MiB;
  const std::uint64_t all = std::uint64_t{row_bytes()} * static_cast<std::uint64_t>(info().height);
  return info().decoder_memory > kMuch && info().decoder_memory.count > all / 2;
}
void PictureRows::spool(const std::string& folder) { buffer_->spool(folder); }
const PictureInfo& PictureRows::info() const { return buffer_->info(); }
std::size_t PictureRows::row_bytes() const { return buffer_->row_bytes(); }
Outcome<void> PictureRows::take(int count, std::uint8_t* out) { return buffer_->take(count, out); }
Outcome<PictureRows::Finished> PictureRows::finish() { return buffer_->finish(); }

}  // namespace millrace
