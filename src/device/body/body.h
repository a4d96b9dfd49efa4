// Input: a kernel body, written once in the common subset of OpenCL C, CUDA C++ and C++.
// Output: the same body for NVIDIA (clang or nvcc), for OpenCL drivers, and for the host, where it is checked.
// Never: lets a compiler choose an operation: a fused multiply-add is written MR_FMA, all rounding is to nearest.
//
// Rules for a body (docs/gpu.md has an example):
// - MR_KERNEL(name, threads)(parameters) { ... }, followed by MR_REGISTER(name). Blocks have exactly `threads` threads
//   in one dimension; a grid has blocks in one dimension.
// - Arrays in the device's memory are MR_IN(type) and MR_OUT(type); numbers are u32, i32, u64, i64, f32, f64. Arrays
//   are only indexed: no pointers are made from them.
// - MR_SHARED(type, name, count) stands first in a kernel. A function takes it as MR_SHARED_OF(type), and an input
//   array as MR_IN_OF(type), without restrict, which Oclgrind does not support there. Every thread of a block passes
//   the same MR_BARRIERs, or none.
// - No library functions, no floating-point atomics, no conversion of a floating-point number that does not fit the
//   integer. MR_AS_F64(u64) and similar macros reinterpret bits. OpenCL's keywords (half, kernel, global) are no names.
// - Floating-point numbers require MR_F32 or MR_F64 at the top of the body: not every device has them with the
//   required precision.
#ifndef MILLRACE_BODY_H
#define MILLRACE_BODY_H

#if defined(MILLRACE_BODY_HOST)
// C++ on the host, with every access checked. The including file must define how (tests/support/gpu/host_body.h).

#elif defined(__OPENCL_C_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef int i32;
typedef ulong u64;
typedef long i64;
#define MR_F32 typedef float f32;
#define MR_F64 typedef double f64;
#define MR_KERNEL(name, threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void name
#define MR_REGISTER(name)
#define MR_DEVICE static
#define MR_IN(type) __global const type* restrict
#define MR_OUT(type) __global type*
#define MR_IN_OF(type) __global const type*
#define MR_SHARED(type, name, count) __local type name[count]
#define MR_SHARED_OF(type) __local type*
#define MR_THREAD ((u32)get_local_id(0))
#define MR_BLOCK ((u32)get_group_id(0))
#define MR_THREADS ((u32)get_local_size(0))
#define MR_BLOCKS ((u32)get_num_groups(0))
#define MR_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// Atomics return the old value. There are separate macros for arrays in global memory and for shared arrays.
#define MR_ATOMIC_ADD(array, at, value) atomic_add(&(array)[at], value)
#define MR_ATOMIC_OR(array, at, value) atomic_or(&(array)[at], value)
#define MR_SHARED_ADD(array, at, value) atomic_add(&(array)[at], value)
#define MR_POPCOUNT(x) ((u32)popcount((u32)(x)))
#define MR_FMA(a, b, c) fma(a, b, c)
#define MR_SQRT(x) sqrt(x)
#define MR_AS_U32(x) as_uint(x)
#define MR_AS_F32(x) as_float(x)
#define MR_AS_U64(x) as_ulong(x)
#define MR_AS_F64(x) as_double(x)
#define MR_UNROLL _Pragma("unroll")

#elif defined(__CUDA__) || defined(__CUDACC__)
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
#define MR_F32 typedef float f32;
#define MR_F64 typedef double f64;
#define MR_REGISTER(name)
#define MR_IN(type) const type* __restrict
#define MR_OUT(type) type*
#define MR_IN_OF(type) const type*
#define MR_SHARED_OF(type) type*
#define MR_UNROLL _Pragma("unroll")
#if defined(__clang__)  // needs no CUDA header
#define MR_KERNEL(name, threads) extern "C" __attribute__((global)) __attribute__((launch_bounds(threads))) void name
#define MR_DEVICE static __attribute__((device, always_inline)) inline
#define MR_SHARED(type, name, count) __attribute__((shared)) static type name[count]
#define MR_THREAD ((u32)__nvvm_read_ptx_sreg_tid_x())
#define MR_BLOCK ((u32)__nvvm_read_ptx_sreg_ctaid_x())
#define MR_THREADS ((u32)__nvvm_read_ptx_sreg_ntid_x())
#define MR_BLOCKS ((u32)__nvvm_read_ptx_sreg_nctaid_x())
#define MR_BARRIER() __syncthreads()
#define MR_ATOMIC_ADD(array, at, value) __atomic_fetch_add(&(array)[at], value, __ATOMIC_RELAXED)
#define MR_ATOMIC_OR(array, at, value) __atomic_fetch_or(&(array)[at], value, __ATOMIC_RELAXED)
#define MR_SHARED_ADD(array, at, value) __atomic_fetch_add(&(array)[at], value, __ATOMIC_RELAXED)
#define MR_POPCOUNT(x) ((u32)__builtin_popcount(x))
// Overloads by argument type: a builtin of another type would widen the surrounding expression.
MR_DEVICE float mr_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MR_DEVICE double mr_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
MR_DEVICE float mr_sqrt(float x) { return __builtin_sqrtf(x); }
MR_DEVICE double mr_sqrt(double x) { return __builtin_sqrt(x); }
#define MR_FMA(a, b, c) mr_fma(a, b, c)
#define MR_SQRT(x) mr_sqrt(x)
#define MR_AS_U32(x) __builtin_bit_cast(u32, (float)(x))
#define MR_AS_F32(x) __builtin_bit_cast(float, (u32)(x))
#define MR_AS_U64(x) __builtin_bit_cast(u64, (double)(x))
#define MR_AS_F64(x) __builtin_bit_cast(double, (u64)(x))
#else  // nvcc, for comparison with clang
#define MR_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
#define MR_DEVICE static __device__ inline
#define MR_SHARED(type, name, count) __shared__ type name[count]
#define MR_THREAD (threadIdx.x)
#define MR_BLOCK (blockIdx.x)
#define MR_THREADS (blockDim.x)
#define MR_BLOCKS (gridDim.x)
#define MR_BARRIER() __syncthreads()
#define MR_ATOMIC_ADD(array, at, value) atomicAdd(&(array)[at], value)
#define MR_ATOMIC_OR(array, at, value) atomicOr(&(array)[at], value)
#define MR_SHARED_ADD(array, at, value) atomicAdd(&(array)[at], value)
#define MR_POPCOUNT(x) ((u32)__popc(x))
#define MR_FMA(a, b, c) fma(a, b, c)
#define MR_SQRT(x) sqrt(x)
#define MR_AS_U32(x) __float_as_uint(x)
#define MR_AS_F32(x) __uint_as_float(x)
#define MR_AS_U64(x) ((u64)__double_as_longlong(x))
#define MR_AS_F64(x) __longlong_as_double((long long)(x))
#endif
#else
#error "a body is compiled as CUDA, as OpenCL C, or for the host with MILLRACE_BODY_HOST"
#endif

#endif
