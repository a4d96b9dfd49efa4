#include "src/io/image/pixels_hash.h"

#include <array>
#include <memory>

#include "src/base/text.h"
#include "src/io/file/xxh3.h"
#include "src/io/image/reserving_sink.h"

namespace millrace {
namespace {

class HashSink : public ReservingSink {
 public:
  HashSink(Budget& budget, const std::function<bool()>& cancelled, std::string subject)
      : ReservingSink(budget, cancelled, std::move(subject)), state_(XXH3_createState(), XXH3_freeState) {}

  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    for (int r = 0; r < count; ++r) XXH3_128bits_update(state_.get(), data + r * stride, row_bytes_);
  }

  ContentHash finish() const {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state_.get()));
    ContentHash out;
    static_assert(sizeof out == sizeof bytes.digest);
    std::copy(std::begin(bytes.digest), std::end(bytes.digest), out.begin());
    return out;
  }

 private:
  void begin_rows(const PictureInfo& info) override {
    row_bytes_ = static_cast<std::size_t>(info.width) * static_cast<std::size_t>(info.channels);
    XXH3_128bits_reset(state_.get());
    const std::array<std::int64_t, 4> shape = {info.width, info.height, info.channels,
                                               static_cast<int>(info.exif.orientation)};
    XXH3_128bits_update(state_.get(), shape.data(), sizeof shape);
  }

  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
  std::size_t row_bytes_ = 0;
};

}  // namespace

Outcome<ContentHash> hash_pixels(const std::string& path, const DecodeOptions& options, Budget& budget) {
  auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return file.error();
  HashSink sink(budget, options.cancelled, escape_unprintable(path));
  const auto decoded = decode_picture(**file, options, sink);
  if (!decoded) return decoded.error();
  if (decoded->damaged) return Error{ErrorCode::bad_data, decoded->damage, escape_unprintable(path), ""};
  return sink.finish();
}

}  // namespace millrace
