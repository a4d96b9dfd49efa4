#include "src/io/image/helper_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/base/text.h"
#include "src/io/image/helper_process.h"
#include "src/io/process/helper_place.h"

namespace millrace {
namespace {

using helper::Answer;
using helper::Kind;
using helper::Message;

// A hostile file can make a decoder loop for ever. The timeout is a minute, plus one second per megapixel and per
// megabyte. No healthy decoder takes longer, and most of its time passes before the first strip.
constexpr int kPatienceSeconds = 60;
int patience_for(std::uint64_t millions) {
  return kPatienceSeconds + static_cast<int>(std::min<std::uint64_t>(millions, 100'000));
}
// Limit on the requests for memory for one picture.
constexpr int kMostQuestions = 8;
// Memory of a helper before it has opened anything: its libraries' own data.
constexpr Bytes kIdleMemory = 24_MiB;

bool sane(const Message& m) {
  constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 50;
  return m.width > 0 && m.height > 0 && m.decoder_memory < kMostMemory && (m.channels == 1 || m.channels == 3) &&
         m.text_bytes <= helper::kMostText && m.exif_bytes <= helper::kMostExif;
}

// Error codes that a helper may report about a picture. Any other code becomes bad_data.
ErrorCode code_of(std::uint32_t code) {
  switch (const auto known = static_cast<ErrorCode>(code)) {
    case ErrorCode::unsupported:
    case ErrorCode::too_large:
    case ErrorCode::out_of_memory:
    case ErrorCode::io:
      return known;
    default:
      return ErrorCode::bad_data;
  }
}

// Exchange of messages with a helper about one picture.
class Conversation {
 public:
  Conversation(HelperProcess& helper, ImageFormat format, const DecodeOptions& options, RowSink& sink,
               std::string subject, std::uint64_t bytes)
      : helper_(helper), options_(options), sink_(sink), subject_(std::move(subject)), megabytes_(bytes / 1'000'000) {
    result_.info.format = format;
  }

  // True after run() when the helper waits for the next request.
  bool reusable() const { return reusable_; }

  Outcome<Decoded> run() {
    helper_.set_cancelled(options_.cancelled);
    helper_.set_patience(patience_for(megabytes_));
    helper_.begin_work(patience_for(megabytes_));
    while (true) {
      Message m{};
      if (!helper_.receive(&m, sizeof(m))) return died();
      if (m.text_bytes > helper::kMostText || m.exif_bytes > helper::kMostExif) return nonsense();
      std::string text(m.text_bytes, '\0');
      std::vector<std::uint8_t> exif(m.exif_bytes);
      if (!helper_.receive(text.data(), text.size()) || !helper_.receive(exif.data(), exif.size())) return died();
      if (m.kind == Kind::failed) {
        reusable_ = true;
        Error error{code_of(m.error_code), printable(text), subject_, ""};
        if (error.code == ErrorCode::out_of_memory) error.remedy = "allow more with --memory";
        return error;
      }
      if (!sane(m)) return nonsense();
      Outcome<void> taken;
      switch (m.kind) {
        case Kind::memory:
          if (begun_ || ++asked_ > kMostQuestions) return nonsense();
          taken = prepare(m);
          break;
        case Kind::begin:
          if (begun_) return nonsense();
          taken = begin(m, exif);
          break;
        case Kind::rows:
          if (!take_rows(m)) return nonsense();
          break;
        case Kind::end:
          if (!begun_ || delivered_ != result_.info.height) return nonsense();
          result_.damaged = m.damaged != 0;
          result_.unshown = Unshown::from(m.unshown);
          if (!exif.empty()) result_.info.exif = parse_exif(exif);
          result_.damage = utf8_for_display(text);
          reusable_ = true;
          return std::move(result_);
        default:
          return nonsense();
      }
      if (!helper_.answer(taken.ok() ? Answer::go_on : Answer::stop)) return died();
      if (!taken.ok()) {
        reusable_ = true;
        return taken.error();
      }
    }
  }

 private:
  Error died() {
    Error error = helper_.exit_reason();
    error.subject = subject_;
    return error;
  }
  Error nonsense() const { return {ErrorCode::crashed, "its decoder sent nonsense", subject_, ""}; }

  Outcome<void> check(int width, int height) const {
    return check_sides(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height), options_, subject_);
  }

  void wait_for(const Message& m) {
    const std::uint64_t megapixels =
        static_cast<std::uint64_t>(m.full_width) * static_cast<std::uint64_t>(m.full_height) / 1'000'000;
    helper_.set_patience(patience_for(megapixels + megabytes_));
    helper_.allow(patience_for(megapixels + megabytes_));
  }

  Outcome<void> prepare(const Message& m) {
    if (auto done = check(m.full_width, m.full_height); !done.ok()) return done;
    wait_for(m);
    return sink_.prepare(Bytes{m.decoder_memory} + kIdleMemory);
  }

  Outcome<void> begin(const Message& m, const std::vector<std::uint8_t>& exif) {
    begun_ = true;
    PictureInfo& info = result_.info;
    info.width = m.width;
    info.height = m.height;
    info.full_width = m.full_width;
    info.full_height = m.full_height;
    info.channels = m.channels;
    info.exact = m.exact != 0;
    info.clips = m.clips != 0;
    info.decoder_memory = Bytes{m.decoder_memory} + kIdleMemory;
    info.exif = parse_exif(exif);
    if (m.orientation >= 1 && m.orientation <= 8) info.exif.orientation = static_cast<Orientation>(m.orientation);
    if (auto done = check(m.full_width, m.full_height); !done.ok()) return done;
    if (auto done = check(m.width, m.height); !done.ok()) return done;
    wait_for(m);
    return sink_.begin(info);
  }

  bool take_rows(const Message& m) {
    const std::size_t pitch =
        static_cast<std::size_t>(result_.info.width) * static_cast<std::size_t>(result_.info.channels);
    if (!begun_ || m.rows <= 0 || m.rows > result_.info.height - delivered_ ||
        static_cast<std::size_t>(m.rows) * pitch > helper::kSharedBytes) {
      return false;
    }
    sink_.rows(helper_.shared(), static_cast<std::ptrdiff_t>(pitch), m.rows);
    delivered_ += m.rows;
    return true;
  }

  HelperProcess& helper_;
  const DecodeOptions& options_;
  RowSink& sink_;
  const std::string subject_;
  const std::uint64_t megabytes_;  // size of the file
  Decoded result_;
  bool begun_ = false, reusable_ = false;
  int delivered_ = 0, asked_ = 0;
};

}  // namespace

HelperPool::HelperPool(Bytes memory) : memory_(memory) {}
HelperPool::~HelperPool() = default;

std::unique_ptr<HelperProcess> HelperPool::take_idle() {
  const MutexLock lock(mutex_);
  while (!idle_.empty()) {
    auto helper = std::move(idle_.back());
    idle_.pop_back();
    if (helper->alive()) return helper;
  }
  return nullptr;
}

Outcome<std::unique_ptr<HelperProcess>> HelperPool::one_with(const DecodeOptions& options, ImageFormat format, int fd,
                                                             const std::string& subject) {
  const helper::Request request{static_cast<std::uint32_t>(format),
                                options.shortest_side,
                                options.gray,
                                options.luma,
                                options.wide_gray,
                                options.over_gray,
                                options.raw_data,
                                memory_.count};
  if (auto helper = take_idle(); helper && helper->request(request, fd)) return helper;
  auto helper = HelperProcess::start();
  if (!helper) {
    return Error{ErrorCode::unavailable, "the decoding helper millrace-decoder cannot be started", subject,
                 helper_remedy("millrace-decoder")};
  }
  if (helper->request(request, fd)) return helper;
  Error error = helper->exit_reason();
  error.subject = subject;
  return error;
}

void HelperPool::end_idle() {
  const MutexLock lock(mutex_);
  for (const auto& helper : idle_) seconds_ += helper->seconds_computed();
  idle_.clear();
}

std::string HelperPool::cost() const {
  const MutexLock lock(mutex_);
  return fmt::format("the sandbox decoded all pictures: {:.2f} s of CPU time in its processes", seconds_);
}

Outcome<Decoded> HelperPool::decode(FileReader& file, ImageFormat format, const DecodeOptions& options, RowSink& sink) {
  const std::string subject = printable(file.path());
  // The caller has read the file's head and hashes the file at the end, so the helper gets a descriptor of its own.
  auto own = file.open_again();
  if (!own) return own.error();
  auto found = one_with(options, format, own->get(), subject);
  *own = Descriptor();  // the helper has its own copy
  if (!found) return found.error();
  std::unique_ptr<HelperProcess> helper = std::move(*found);
  Conversation conversation(*helper, format, options, sink, subject, file.size());
  // A sink may throw. Then the helper is in the middle of its file, and is ended instead of returned to the pool.
  auto result = conversation.run();
  if (!conversation.reusable()) return result;
  helper->set_cancelled({});
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(helper));
  return result;
}

}  // namespace millrace
