// A kernel body as C++ on the host, for tests: every access to an array is checked, the threads of a block are fibers
// that stop at barriers, and two of them that meet at an element without one are told (host_launch.h runs them).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tests/support/gpu/host_launch.h"

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
static_assert(std::endian::native == std::endian::little, "bodies take words of codes apart");

#define MR_F32 using f32 = float;
#define MR_F64 using f64 = double;
#define MR_KERNEL(name, threads)                        \
  static constexpr unsigned name##_threads = (threads); \
  static void name
#define MR_REGISTER(name) \
  static const bool name##_registered = millrace::host::add_kernel(#name, name##_threads, &(name));
#define MR_DEVICE static inline
#define MR_IN(type) millrace::host::In<type>
#define MR_OUT(type) millrace::host::Out<type>
#define MR_IN_OF(type) const millrace::host::In<type>&
// Shared array of a block; the name distinguishes the arrays of one kernel.
#define MR_SHARED(type, name, count) \
  const millrace::host::Out<type> name = millrace::host::shared_array<type>(#name, count)
#define MR_THREAD (millrace::host::now().thread)
#define MR_BLOCK (millrace::host::now().block)
#define MR_THREADS (millrace::host::now().threads)
#define MR_BLOCKS (millrace::host::now().blocks)
#define MR_BARRIER() millrace::host::barrier()
#define MR_ATOMIC_ADD(array, at, value) (array).atomic(at, [&](auto mr_old) { return mr_old + (value); })
#define MR_ATOMIC_OR(array, at, value) (array).atomic(at, [&](auto mr_old) { return mr_old | (value); })
#define MR_SHARED_ADD(array, at, value) MR_ATOMIC_ADD(array, at, value)
// std::popcount() in portable code is a call and table look-ups.
inline u32 MR_POPCOUNT(u32 x) {
  x -= (x >> 1) & 0x55555555U;
  x = (x & 0x33333333U) + ((x >> 2) & 0x33333333U);
  return ((x + (x >> 4)) & 0x0F0F0F0FU) * 0x01010101U >> 24;
}
#define MR_FMA(a, b, c) std::fma(a, b, c)
#define MR_SQRT(x) std::sqrt(x)
#define MR_SHARED_OF(type) const millrace::host::Out<type>&
#define MR_AS_U32(x) std::bit_cast<u32>(static_cast<float>(x))
#define MR_AS_F32(x) std::bit_cast<float>(static_cast<u32>(x))
#define MR_AS_U64(x) std::bit_cast<u64>(static_cast<double>(x))
#define MR_AS_F64(x) std::bit_cast<double>(static_cast<u64>(x))
#define MR_UNROLL
