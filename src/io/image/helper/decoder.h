// Input: an open file in one of the picture formats.
// Output: 8-bit gray or RGB rows, written to a DecoderChannel.
// Never: returns pixels of a picture that failed. It may crash, which is why it runs in a process of its own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/io/image/extra_data.h"
#include "src/io/image/helper/protocol.h"
#include "src/io/process/helper/sandbox.h"

namespace millrace::helper {

// The helper's side of the exchange with the program about one picture.
class DecoderChannel {
 public:
  explicit DecoderChannel(std::uint8_t* shared) : shared_(shared) {}

  // Asks for memory for a picture of about this size, before anything large is allocated; false when there is none.
  bool prepare(int width, int height, std::uint64_t bytes);
  // Announces the picture and its EXIF block; false when it is not wanted (too large, or the run was cancelled).
  bool begin(const DecoderMessage& about, const std::vector<std::uint8_t>& exif = {});
  // Buffer for the next strip: at most `max_rows()` rows, pitch = width * channels.
  std::uint8_t* strip() { return shared_; }
  int max_rows() const;
  // Hands over `count` rows of the strip; false when the rest is not wanted.
  bool rows(int count);
  // Ends the picture. `exif` is a block that came after the rows.
  void end(bool damaged, const std::string& why, const UnshownData& unshown = {},
           const std::vector<std::uint8_t>& exif = {});
  void fail(int error_code, const std::string& why);

 private:
  bool ask(const DecoderMessage& message, const std::vector<std::uint8_t>& exif = {});
  std::uint8_t* shared_;
  DecoderMessage about_{};
};

struct DecodeJob {
  int fd;  // positioned at 0
  int format;
  int shortest_side;
  bool gray, luma, wide_gray, over_gray, raw_data;  // as in DecodeOptions
};

// Loads every file that the libraries would otherwise open later: in its sandbox a helper can open none.
void load_decoders();
void load_vips();

void decode_with_vips(const DecodeJob& job, DecoderChannel& channel);
void decode_gif(const DecodeJob& job, DecoderChannel& channel);
void decode_bmp(const DecodeJob& job, DecoderChannel& channel);
void decode_pnm(const DecodeJob& job, DecoderChannel& channel);
void decode_raw(const DecodeJob& job, DecoderChannel& channel);
void decode_jpeg_or_png(const DecodeJob& job, DecoderChannel& channel);

// Prints one line of JSON per library for `--versions`: its name, its version, and the formats that it reads here.
void print_versions();
// Prints one line of JSON for a layer of the sandbox, also for `--versions`.
void print_sandbox_layer(const SandboxLayer& layer);

// Sends a whole picture from memory, strip by strip. False when the rest is not wanted.
bool send_plane(DecoderChannel& channel, const std::uint8_t* pixels, std::size_t stride, int width, int height,
                int channels, int pixel_step);

}  // namespace millrace::helper
