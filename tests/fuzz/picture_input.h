// Input: a fuzz input that claims to be a picture of one format.
// Output: it decoded in full, to its exact luma, and reduced, with what every decoder promises checked.
// Never: decodes a picture so large that it only costs time.
#pragma once

#include <cstdlib>

#include "src/io/image/picture.h"
#include "tests/fuzz/memory_file.h"

namespace millrace::fuzz {

// Reads every pixel, so that the sanitizer sees one that is not there.
class CheckingSink : public RowSink {
 public:
  Outcome<void> begin(const PictureInfo& info) override {
    if (begun_ || info.width <= 0 || info.height <= 0 || (info.channels != 1 && info.channels != 3)) std::abort();
    begun_ = true;
    info_ = info;
    // A coefficient buffer of gigabytes is refused by the budget in a job.
    if (info.decoder_memory > 64_MiB) return Error{ErrorCode::out_of_memory, "too large to fuzz", "", ""};
    return {};
  }
  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    if (!begun_ || count <= 0 || count > info_.height - delivered_) std::abort();
    delivered_ += count;
    for (int r = 0; r < count; ++r) {
      for (int i = 0; i < info_.width * info_.channels; ++i) sum_ += data[r * stride + i];
    }
  }
  bool complete() const { return begun_ && delivered_ == info_.height; }
  unsigned sum() const { return sum_; }

 private:
  PictureInfo info_;
  bool begun_ = false;
  int delivered_ = 0;
  unsigned sum_ = 0;
};

using Decoder = Outcome<DecodeResult> (*)(FileReader&, const DecodeOptions&, RowSink&);

inline void decode_all_ways(const std::uint8_t* data, std::size_t size, Decoder decode) {
  const std::string path = path_of_bytes(data, size);
  const DecodeOptions ways[] = {{}, {.luma = true}, {.shortest_side = 8, .gray = true}};
  for (DecodeOptions options : ways) {
    options.max_pixels = 1 << 20;
    auto file = FileReader::open(path);
    if (!file) std::abort();
    CheckingSink sink;
    const auto decoded = decode(**file, options, sink);
    if (decoded && !sink.complete()) std::abort();
    if (!decoded && decoded.error().what.empty()) std::abort();
    volatile unsigned keep = sink.sum();
    (void)keep;
  }
}

}  // namespace millrace::fuzz
