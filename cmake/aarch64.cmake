# Toolchain of the aarch64 build of the operations. tools/neon.sh fills MILLRACE_SYSROOT with the few arm64 packages
# that the cross compiler does not bring, and runs the result in an emulator.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)

# CMake reads this file again for every trial compilation, without the cache.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MILLRACE_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${MILLRACE_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
