#include "src/io/image/helper_client.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/text.h"
#include "src/io/image/helper_process.h"

namespace millrace {
namespace {

using helper::Answer;
using helper::Kind;
using helper::Message;

// A hostile file can make a decoder loop for ever. No healthy one takes longer than this, most of it to its first
// strip: a second a megapixel and a megabyte on top of a minute.
constexpr int kPatienceSeconds = 60;
int patience_for(std::uint64_t millions) {
  return kPatienceSeconds + static_cast<int>(std::min<std::uint64_t>(millions, 100'000));
}
// For memory, of one picture.
constexpr int kMostQuestions = 8;
// A helper before it has opened anything: its libraries' own data.
constexpr Bytes kIdleMemory = 24_MiB;

std::atomic<std::uint64_t> memory_limit{0};

std::mutex idle_mutex;
std::vector<std::unique_ptr<HelperProcess>>& idle_helpers() {
  static std::vector<std::unique_ptr<HelperProcess>> idle;
  return idle;
}

std::unique_ptr<HelperProcess> take_idle_helper() {
  const std::lock_guard lock(idle_mutex);
  while (!idle_helpers().empty()) {
    auto helper = std::move(idle_helpers().back());
    idle_helpers().pop_back();
    if (helper->alive()) return helper;
  }
  return nullptr;
}

void give_back(std::unique_ptr<HelperProcess> helper) {
  helper->set_cancelled({});
  const std::lock_guard lock(idle_mutex);
  idle_helpers().push_back(std::move(helper));
}

// A helper that has the request. One that died before it got it is no fault of this file's.
std::unique_ptr<HelperProcess> helper_with(const helper::Request& request, int fd) {
  if (auto helper = take_idle_helper(); helper && helper->request(request, fd)) return helper;
  auto helper = HelperProcess::start();
  return helper && helper->request(request, fd) ? std::move(helper) : nullptr;
}

bool sane(const Message& m) {
  constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 50;
  return m.width > 0 && m.height > 0 && m.decoder_memory < kMostMemory && (m.channels == 1 || m.channels == 3) &&
         m.text_bytes <= helper::kMostText && m.exif_bytes <= helper::kMostExif;
}

// What a helper may say about a picture; everything else is the program's to say.
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

// One picture's conversation.
class Conversation {
 public:
  Conversation(HelperProcess& helper, ImageFormat format, const DecodeOptions& options, RowSink& sink,
               std::string subject, std::uint64_t bytes)
      : helper_(helper), options_(options), sink_(sink), subject_(std::move(subject)), megabytes_(bytes / 1'000'000) {
    result_.info.format = format;
  }

  // True afterwards when the helper waits for the next request.
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
      std::optional<Error> refused;
      switch (m.kind) {
        case Kind::memory:
          if (begun_ || ++asked_ > kMostQuestions) return nonsense();
          refused = prepare(m);
          break;
        case Kind::begin:
          if (begun_) return nonsense();
          refused = begin(m, exif);
          break;
        case Kind::rows:
          if (!take_rows(m)) return nonsense();
          break;
        case Kind::end:
          if (!begun_ || delivered_ != result_.info.height) return nonsense();
          result_.damaged = m.damaged != 0;
          result_.hides = m.hides != 0;
          if (!exif.empty()) result_.info.exif = parse_exif(exif);
          result_.damage = utf8_for_display(text);
          reusable_ = true;
          return std::move(result_);
        default:
          return nonsense();
      }
      if (!helper_.answer(refused ? Answer::stop : Answer::go_on)) return died();
      if (refused) {
        reusable_ = true;
        return *refused;
      }
    }
  }

 private:
  Error died() {
    Error error = helper_.obituary();
    error.subject = subject_;
    return error;
  }
  Error nonsense() const { return {ErrorCode::crashed, "its decoder sent nonsense", subject_, ""}; }

  std::optional<Error> check(int width, int height) const {
    return check_sides(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height), options_, subject_);
  }

  void wait_for(const Message& m) {
    const std::uint64_t megapixels =
        static_cast<std::uint64_t>(m.full_width) * static_cast<std::uint64_t>(m.full_height) / 1'000'000;
    helper_.set_patience(patience_for(megapixels + megabytes_));
    helper_.allow(patience_for(megapixels + megabytes_));
  }

  std::optional<Error> prepare(const Message& m) {
    if (auto error = check(m.full_width, m.full_height)) return error;
    wait_for(m);
    return sink_.prepare(Bytes{m.decoder_memory} + kIdleMemory);
  }

  std::optional<Error> begin(const Message& m, const std::vector<std::uint8_t>& exif) {
    begun_ = true;
    PictureInfo& info = result_.info;
    info.width = m.width;
    info.height = m.height;
    info.full_width = m.full_width;
    info.full_height = m.full_height;
    info.channels = m.channels;
    info.exact = m.exact != 0;
    info.decoder_memory = Bytes{m.decoder_memory} + kIdleMemory;
    info.exif = parse_exif(exif);
    if (m.orientation >= 1 && m.orientation <= 8) info.exif.orientation = static_cast<Orientation>(m.orientation);
    if (auto error = check(m.full_width, m.full_height)) return error;
    if (auto error = check(m.width, m.height)) return error;
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
  const std::uint64_t megabytes_;  // of the file
  Decoded result_;
  bool begun_ = false, reusable_ = false;
  int delivered_ = 0, asked_ = 0;
};

}  // namespace

void limit_helper_memory(Bytes limit) { memory_limit.store(limit.count); }

void stop_helpers() {
  const std::lock_guard lock(idle_mutex);
  idle_helpers().clear();
}

std::string cost_of_sandbox() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return fmt::format("the sandbox decoded all pictures: {:.2f} s of CPU time in its processes",
                     seconds(used.ru_utime) + seconds(used.ru_stime));
}

Outcome<Decoded> decode_in_helper(FileReader& file, ImageFormat format, const DecodeOptions& options, RowSink& sink) {
  const std::string subject = printable(file.path());
  // The caller has looked at the file's head and hashes it at the end, so the helper gets a descriptor of its own.
  auto own = file.open_again();
  if (!own) return own.error();
  auto helper = helper_with(
      {static_cast<std::uint32_t>(format), options.shortest_side, options.gray, options.luma, memory_limit.load()},
      own->get());
  *own = Descriptor();  // the helper has it
  if (!helper) {
    return Error{ErrorCode::unavailable, "the decoding helper millrace-decoder cannot be started", subject,
                 "check that it lies beside the millrace program"};
  }
  Conversation conversation(*helper, format, options, sink, subject, file.size());
  // A sink may throw; then the helper, in the middle of its file, is not given back but ended.
  auto result = conversation.run();
  if (conversation.reusable()) give_back(std::move(helper));
  return result;
}

}  // namespace millrace
