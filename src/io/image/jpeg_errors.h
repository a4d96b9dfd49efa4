// Enters: what libjpeg says while it reads or writes.
// Leaves: a jump to where its caller waits, with the reason; and the first warning that means lost pixels.
// Never: prints; ends the program.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

// Needs what is before it.
#include <jpeglib.h>

namespace millrace {

// Filled with zeros where it is made. No C++ object may lie between setjmp(jump) and what fails.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];

  // For a compressor or a decompressor.
  jpeg_error_mgr* set_up();
};

}  // namespace millrace
