# What makes a mistake in memory harder to use: photographs, film and models come from strangers, and JPEG, PNG and EXIF are
# read in the program itself.
if(MILLRACE_SANITIZE OR MILLRACE_FUZZ OR MILLRACE_KERNELS_ONLY)
  return()  # sanitizers see more, and their run-time libraries do not go together with it
endif()
add_compile_options(-fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  add_compile_options(-mbranch-protection=standard)
endif()
# Needs an optimizer: what is compiled with -O0 says -U_FORTIFY_SOURCE.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE} -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
endif()
add_link_options(-Wl,-z,relro,-z,now -Wl,-z,noexecstack)
