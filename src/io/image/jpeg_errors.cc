#include "src/io/image/jpeg_errors.h"

#include <jerror.h>

namespace millrace {
namespace {

JpegErrors& errors_of(j_common_ptr info) { return *reinterpret_cast<JpegErrors*>(info->err); }

[[noreturn]] void leave(j_common_ptr info) {
  JpegErrors& errors = errors_of(info);
  errors.base.format_message(info, errors.message);
  std::longjmp(errors.jump, 1);
}

void note(j_common_ptr info, int level) {
  if (level >= 0) return;
  // Stray bytes between segments are common and harmless. Every other warning is about lost or guessed data.
  JpegErrors& errors = errors_of(info);
  const int code = errors.base.msg_code;
  if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR) return;
  if (errors.warning[0] == '\0') errors.base.format_message(info, errors.warning);
}

}  // namespace

jpeg_error_mgr* JpegErrors::set_up() {
  jpeg_error_mgr* const out = jpeg_std_error(&base);
  base.error_exit = leave;
  base.emit_message = note;
  return out;
}

}  // namespace millrace
