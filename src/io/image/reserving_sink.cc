#include "src/io/image/reserving_sink.h"

namespace millrace {

Outcome<void> ReservingSink::begin(const PictureInfo& info) {
  if (info.decoder_memory.count > reservation_.size().count) {
    if (auto done = reserve(info.decoder_memory); !done.ok()) return done;
  }
  begin_rows(info);
  return {};
}

Outcome<void> ReservingSink::reserve(Bytes bytes) {
  reservation_.release();
  try {
    auto granted = budget_.wait_for(bytes, "decoding a picture", cancelled_);
    if (!granted) return interrupted("the picture was not decoded", subject_);
    reservation_ = std::move(*granted);
    return {};
  } catch (const OutOfMemory& e) {
    return Error{e.error().code, e.error().what, subject_, e.error().remedy};
  }
}

}  // namespace millrace
