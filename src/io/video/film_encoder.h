// Input: pictures, in the order in which they are shown, segment by segment.
// Output: each segment's packets, by an encoder that knew nothing of the others, as they come.
// Never: lets the number of the program's threads, or what else is under way, change a byte of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/io/video/film_file.h"
#include "src/io/video/film_process.h"

namespace millrace::film {

struct EncoderOptions {
  // By name, the first that is there and takes such pictures.
  struct Candidate {
    std::string name;
    std::vector<std::pair<std::string, std::string>> options;
  };
  std::vector<Candidate> candidates;
  Shape shape;
  Rational time_base, rate;
  int threads = 2;  // of the encoder, which are part of what it makes
};

// What decoders need to know of a stream before its first packet.
struct Encoded {
  std::string encoder, codec, pixels;
  std::string description;  // JSON, as muxing wants it
  std::vector<std::uint8_t> extradata;
};

struct EncodedPacket {
  std::int64_t pts = 0, duration = 0;
  bool key = false;
  std::uint32_t side_bytes = 0;  // at the end of the data
  std::vector<std::uint8_t> data;
};

// What makes packets of pictures.
class PictureEncoder {
 public:
  // Called in order: opened, packets, ended, for each segment; perhaps on a thread of the encoder's. What it throws
  // comes out of the next call.
  struct Listener {
    std::function<void(const Encoded&)> opened;
    std::function<void(EncodedPacket)> packet;
    std::function<void()> ended;
  };
  // Room for a picture, whose numbers lie as layout_of() has them.
  struct Slot {
    std::uint8_t* pixels = nullptr;
    std::uint32_t number = 0;
  };

  PictureEncoder() = default;
  virtual ~PictureEncoder() = default;
  PictureEncoder(const PictureEncoder&) = delete;
  PictureEncoder& operator=(const PictureEncoder&) = delete;

  // Waits for it. Any thread.
  virtual Slot room() = 0;
  // The rest on one thread at a time.
  virtual void begin() = 0;
  virtual void send(const Slot& slot, std::int64_t pts, std::int64_t duration) = 0;
  virtual void drain() = 0;
  // Behind the last drain(): waits until all has been listened to.
  virtual void finish() = 0;
  // CPU time of what it does elsewhere.
  virtual double seconds_computed() const { return 0; }
};

class FilmEncoder : public PictureEncoder {
 public:
  FilmEncoder(const EncoderOptions& options, const std::string& subject, std::uint32_t slots, Bytes memory,
              Listener listener, const std::function<bool()>& cancelled);
  // Where it was not finished, all that is under way is dropped.
  ~FilmEncoder() override;

  Slot room() override;
  void begin() override;
  void send(const Slot& slot, std::int64_t pts, std::int64_t duration) override;
  void drain() override;
  void finish() override;
  double seconds_computed() const override { return process_->seconds_computed(); }

 private:
  void listen();
  void take(FilmProcess::Heard& heard, bool& opened);
  void throw_if_failed();

  const EncoderOptions options_;
  const std::size_t slot_bytes_;
  const std::unique_ptr<FilmProcess> process_;
  const Listener listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> free_;
  std::vector<bool> lent_;  // to the helper
  std::uint64_t begun_ = 0, ended_ = 0;
  bool no_more_ = false;
  std::exception_ptr failed_;
  std::thread thread_;
};

// Failure(unsupported) where no encoder is there that can begin: to be known before the work.
void check_encoder(const EncoderOptions& options, const std::string& subject, Bytes memory,
                   const std::function<bool()>& cancelled);

}  // namespace millrace::film
