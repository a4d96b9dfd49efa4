// Input: errors and warnings of libjpeg while it reads or writes.
// Output: a jump to the caller's setjmp() with the message, and the first warning that means lost pixels.
// Never: it prints or ends the program.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

// Needs what is before it.
#include <jpeglib.h>

namespace millrace {

// Callers make it with zeros in it. No C++ object may lie between setjmp(jump) and what fails.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];

  // For a compressor or a decompressor.
  jpeg_error_mgr* set_up();
};

}  // namespace millrace
