#include "src/io/image/helper_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/base/text.h"
#include "src/io/image/helper_process.h"
#include "src/io/process/helper_path.h"

namespace millrace {
namespace {

using helper::DecoderMessage;
using helper::MessageKind;
using helper::ProgramReply;

// A hostile file can make a decoder loop for ever. The timeout is a minute, plus one second per megapixel and per
// megabyte. No healthy decoder takes longer, and most of its time passes before the first strip.
constexpr int kTimeoutSeconds = 60;
int compute_timeout(std::uint64_t millions) {
  return kTimeoutSeconds + static_cast<int>(std::min<std::uint64_t>(millions, 100'000));
}
// Limit on the requests for memory for one picture.
constexpr int kMaxMemoryRequests = 8;
// Memory of a helper before it has opened anything: its libraries' own data.
constexpr Bytes kIdleMemory = 24_MiB;

bool is_valid_message(const DecoderMessage& m) {
  constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 50;
  return m.width > 0 && m.height > 0 && m.decoder_memory < kMaxMemory && (m.channels == 1 || m.channels == 3) &&
         m.text_bytes <= helper::kMaxTextBytes && m.exif_bytes <= helper::kMaxExifBytes;
}

// Error codes that a helper may report about a picture. Any other code becomes bad_data.
ErrorCode convert_error_code(std::uint32_t code) {
  switch (const auto converted = static_cast<ErrorCode>(code)) {
    case ErrorCode::unsupported:
    case ErrorCode::too_large:
    case ErrorCode::out_of_memory:
    case ErrorCode::io:
      return converted;
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

  Outcome<DecodeResult> run() {
    helper_.set_cancelled(options_.cancelled);
    helper_.set_timeout(compute_timeout(megabytes_));
    helper_.begin_work(compute_timeout(megabytes_));
    while (true) {
      DecoderMessage m{};
      if (!helper_.receive(&m, sizeof(m))) return make_exit_error();
      if (m.text_bytes > helper::kMaxTextBytes || m.exif_bytes > helper::kMaxExifBytes) return make_protocol_error();
      std::string text(m.text_bytes, '\0');
      std::vector<std::uint8_t> exif(m.exif_bytes);
      if (!helper_.receive(text.data(), text.size()) || !helper_.receive(exif.data(), exif.size()))
        return make_exit_error();
      if (m.kind == MessageKind::failed) {
        reusable_ = true;
        Error error{convert_error_code(m.error_code), escape_unprintable(text), subject_, ""};
        if (error.code == ErrorCode::out_of_memory) error.remedy = "raise --memory";
        return error;
      }
      if (!is_valid_message(m)) return make_protocol_error();
      Outcome<void> taken;
      switch (m.kind) {
        case MessageKind::memory:
          if (begun_ || ++asked_ > kMaxMemoryRequests) return make_protocol_error();
          taken = prepare(m);
          break;
        case MessageKind::begin:
          if (begun_) return make_protocol_error();
          taken = begin(m, exif);
          break;
        case MessageKind::rows:
          if (!take_rows(m)) return make_protocol_error();
          break;
        case MessageKind::end:
          if (!begun_ || delivered_ != result_.info.height) return make_protocol_error();
          result_.damaged = m.damaged != 0;
          result_.unshown = UnshownData::from(m.unshown);
          if (!exif.empty()) result_.info.exif = parse_exif(exif);
          result_.damage = replace_invalid_utf8(text);
          reusable_ = true;
          return std::move(result_);
        default:
          return make_protocol_error();
      }
      if (!helper_.answer(taken.ok() ? ProgramReply::proceed : ProgramReply::stop)) return make_exit_error();
      if (!taken.ok()) {
        reusable_ = true;
        return taken.error();
      }
    }
  }

 private:
  Error make_exit_error() {
    Error error = helper_.describe_exit();
    error.subject = subject_;
    return error;
  }
  Error make_protocol_error() const {
    return {ErrorCode::crashed, "its decoder sent an invalid message", subject_, ""};
  }

  Outcome<void> check(int width, int height) const {
    return check_picture_size(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height), options_,
                              subject_);
  }

  void extend_timeout(const DecoderMessage& m) {
    const std::uint64_t megapixels =
        static_cast<std::uint64_t>(m.full_width) * static_cast<std::uint64_t>(m.full_height) / 1'000'000;
    helper_.set_timeout(compute_timeout(megapixels + megabytes_));
    helper_.set_work_seconds(compute_timeout(megapixels + megabytes_));
  }

  Outcome<void> prepare(const DecoderMessage& m) {
    if (auto done = check(m.full_width, m.full_height); !done.ok()) return done;
    extend_timeout(m);
    return sink_.prepare(Bytes{m.decoder_memory} + kIdleMemory);
  }

  Outcome<void> begin(const DecoderMessage& m, const std::vector<std::uint8_t>& exif) {
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
    extend_timeout(m);
    return sink_.begin(info);
  }

  bool take_rows(const DecoderMessage& m) {
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
  DecodeResult result_;
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
    if (helper->is_alive()) return helper;
  }
  return nullptr;
}

Outcome<std::unique_ptr<HelperProcess>> HelperPool::send_request(const DecodeOptions& options, ImageFormat format,
                                                                 int fd, const std::string& subject) {
  const helper::DecodeRequest request{static_cast<std::uint32_t>(format),
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
  Error error = helper->describe_exit();
  error.subject = subject;
  return error;
}

void HelperPool::end_idle() {
  const MutexLock lock(mutex_);
  for (const auto& helper : idle_) seconds_ += helper->cpu_seconds();
  idle_.clear();
}

std::string HelperPool::describe_cpu_time() const {
  const MutexLock lock(mutex_);
  return fmt::format("all pictures were decoded in the sandbox ({:.2f} s of CPU time in its processes)", seconds_);
}

Outcome<DecodeResult> HelperPool::decode(FileReader& file, ImageFormat format, const DecodeOptions& options,
                                         RowSink& sink) {
  const std::string subject = escape_unprintable(file.path());
  // The caller has read the file's head and hashes the file at the end, so the helper gets a descriptor of its own.
  auto own = file.reopen();
  if (!own) return own.error();
  auto found = send_request(options, format, own->get(), subject);
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
