// Input: what the simulated driver is told, call by call (fake_cuda.cc).
// Output: its memory, streams and events, and failures as the environment wishes for them.
// Never: does a thing of a stream's before somebody waits for it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/gpu/host_launch.h"
#include "tests/support/gpu/stale_memory.h"

namespace millrace::fake {

using millrace::host::Argument;
using millrace::host::Kernel;
using millrace::host::Order;
using millrace::host::Shadow;

constexpr int kInvalid = 1, kNoMemory = 2, kNoContext = 201, kBadPtx = 218, kNotFound = 500, kNotReady = 600,
              kLost = 719;

struct Free {
  void operator()(Shadow* shadow) const { std::free(shadow); }
};
struct Memory {
  StaleMemory data;
  // Shadow entries, one per byte; only that of an element's first byte is used. Untouched pages cost nothing.
  std::unique_ptr<Shadow, Free> shadow;
  bool freed = false;
  int context = 0;  // whose it is
};

struct FakeEvent;
struct Step {
  std::function<std::string()> run;  // empty text: all well
  std::shared_ptr<FakeEvent> event;  // recorded here
  std::shared_ptr<FakeEvent> await;  // or waited for
  std::uint64_t await_record = 0;
};
struct FakeStream {
  std::deque<Step> steps;
};
struct FakeEvent {
  std::uint64_t recorded = 0, passed = 0;  // how often
  FakeStream* stream = nullptr;
  double at = 0;
};
struct FakeModule {
  std::map<std::string, std::size_t> entries;  // how many parameters the PTX has
};

struct Failure {
  std::string call, end;
  std::uint64_t at = 0;
  bool on = false;  // from there on
};

struct Driver {
  std::map<unsigned long long, Memory> memory;
  unsigned long long next = 0x700000000000;
  std::size_t segment = 0;  // of memory that is mapped piece by piece
  std::uint64_t used = 0, all = std::uint64_t{1} << 30;
  std::map<void*, std::size_t> pinned;
  std::set<FakeStream*> streams;
  FakeStream legacy;  // the default one, which has no number
  std::map<FakeEvent*, std::shared_ptr<FakeEvent>> events;
  std::vector<std::unique_ptr<FakeModule>> modules;
  std::vector<Failure> failures;
  std::map<std::string, std::uint64_t> calls;
  std::string violations, summary;
  bool lost = false;
  Order order = Order::forward;
  double clock = 0;
  int contexts = 0;

  Driver() { read_environment(); }
  void read_environment();
};

// Guards everything in this header.
extern std::recursive_mutex mutex;
Driver& driver();
// The context that is current in the calling thread; 0: none.
extern thread_local int current;

bool pretends(const char* what);
// The program did what the driver's interface does not allow.
void violate(const std::string& what);
// 0, or what the call has to give at once; `end` is how it is to end later.
int begin_call(const char* call, std::string* end = nullptr);
// The allocation at an address, and how far into it; null with a violation where there is none, or one that was freed.
Memory* find_memory(unsigned long long address, std::size_t bytes, std::size_t& offset, const char* what);
// The stream that a caller means; null means the default one.
FakeStream* stream_of(void* stream);
void enqueue(FakeStream* stream, std::function<std::string()> run);
// Executes all steps of the stream, and those of other streams that it waits for.
int drain(FakeStream* stream);

}  // namespace millrace::fake
