// Input: errors and warnings of libjpeg while it reads or writes.
// Output: a jump to the caller's setjmp() with the message, and the first warning that means lost pixels.
// Never: prints; ends the program.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

// jpeglib.h needs the headers above it.
#include <jpeglib.h>

namespace millrace {

// Callers initialize it with zeros. No C++ object may be created between setjmp(jump) and a call that fails.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];

  // Sets up the error manager, for a compressor or a decompressor.
  jpeg_error_mgr* set_up();
};

}  // namespace millrace
