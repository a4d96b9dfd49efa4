#include "tests/support/gpu/host_launch.h"

#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__)
#define MILLRACE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MILLRACE_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef MILLRACE_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace millrace::host {
namespace {

constexpr std::size_t kStack = std::size_t{64} << 10;

class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Unwinds the fibers of a launch that has failed.
class Ended : public std::exception {};

struct SharedArray {
  std::vector<std::byte> data;
  std::vector<Shadow> shadow;
  std::string name;
};

enum class State : std::uint8_t { ready, at_barrier, done };

struct Fiber {
  ucontext_t context{};
  std::byte* stack = nullptr;
  State state = State::ready;
  Place place;
  void* fake_stack = nullptr;
};

struct Running {
  const Kernel* kernel = nullptr;
  const std::vector<Argument>* arguments = nullptr;
  ucontext_t scheduler{};
  std::vector<Fiber> fibers;
  Fiber* fiber = nullptr;
  std::map<std::string, SharedArray> shared;
  std::string violation;
  void* scheduler_fake = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_bytes = 0;
};

// The stacks of fibers, kept from launch to launch.
std::byte* stack_of(unsigned thread) {
  static auto& stacks = *new std::vector<std::unique_ptr<std::byte[]>>;
  while (stacks.size() <= thread) stacks.push_back(std::unique_ptr<std::byte[]>(new std::byte[kStack]));
  return stacks[thread].get();
}

Running* running = nullptr;

#ifdef MILLRACE_ADDRESS_SANITIZER
void leave(void** fake, const void* stack, std::size_t bytes) { __sanitizer_start_switch_fiber(fake, stack, bytes); }
void arrive(void* fake, const void** stack, std::size_t* bytes) { __sanitizer_finish_switch_fiber(fake, stack, bytes); }
#else
void leave(void** /*fake*/, const void* /*stack*/, std::size_t /*bytes*/) {}
void arrive(void* /*fake*/, const void** /*stack*/, std::size_t* /*bytes*/) {}
#endif

void to_scheduler(bool for_good) {
  Fiber& fiber = *running->fiber;
  leave(for_good ? nullptr : &fiber.fake_stack, running->scheduler_stack, running->scheduler_bytes);
  ::swapcontext(&fiber.context, &running->scheduler);
  arrive(fiber.fake_stack, &running->scheduler_stack, &running->scheduler_bytes);
}

void fiber_main() {
  arrive(nullptr, &running->scheduler_stack, &running->scheduler_bytes);
  try {
    running->kernel->run(*running->arguments);
  } catch (const Violation& violation) {
    if (running->violation.empty()) running->violation = violation.what();
  } catch (const Ended&) {  // NOLINT(bugprone-empty-catch)
  }
  running->fiber->state = State::done;
  to_scheduler(true);
}

void resume(Fiber& fiber) {
  running->fiber = &fiber;
  current.place = fiber.place;
  fiber.state = State::ready;
  leave(&running->scheduler_fake, fiber.stack, kStack);
  ::swapcontext(&running->scheduler, &fiber.context);
  arrive(running->scheduler_fake, nullptr, nullptr);
}

std::string who(const Place& place) {
  return "thread " + std::to_string(place.thread) + " of block " + std::to_string(place.block);
}

// Runs one block; returns false if it failed.
bool run_block(unsigned block, unsigned blocks, const std::vector<unsigned>& order) {
  Running& r = *running;
  r.shared.clear();
  for (Fiber& fiber : r.fibers) {
    fiber.state = State::ready;
    fiber.place.block = block;
    fiber.place.blocks = blocks;
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    ::makecontext(&fiber.context, fiber_main, 0);
  }
  for (std::size_t left = r.fibers.size(); left > 0;) {
    std::size_t waiting = 0;
    for (const unsigned at : order) {
      Fiber& fiber = r.fibers[at];
      if (fiber.state == State::done) continue;
      resume(fiber);
      if (fiber.state == State::done) {
        --left;
      } else {
        ++waiting;
      }
    }
    // A thread that is done never reaches the barrier at which others wait.
    if (waiting > 0 && waiting < r.fibers.size() && r.violation.empty()) {
      r.violation = "a barrier in block " + std::to_string(block) + " is reached by " + std::to_string(waiting) +
                    " of " + std::to_string(r.fibers.size()) + " threads";
    }
    ++current.phase;
  }
  return r.violation.empty();
}

}  // namespace

Now current;

void barrier() {
  running->fiber->state = State::at_barrier;
  to_scheduler(false);
  if (!running->violation.empty()) throw Ended();
}

void outside(const Array& array, std::uint64_t at) {
  throw Violation(who(now()) + " is at " + std::to_string(at) + " of " + std::to_string(array.count) + " in " +
                  array.name);
}

void race(const Array& array, std::uint64_t at, const Shadow& shadow, bool writes, bool written) {
  const std::string other = written ? "thread " + std::to_string(shadow.writer - 1) + " of block " +
                                          std::to_string(shadow.write_block - 1) + " wrote"
                                    : "another thread reads";
  throw Violation(who(now()) + (writes ? " writes" : " reads") + " element " + std::to_string(at) + " of " +
                  array.name + ", which " + other + ", and no barrier is between");
}

Array shared_memory(const char* name, std::size_t count, std::size_t element) {
  SharedArray& shared = running->shared[name];
  if (shared.data.empty()) {
    // A device's shared memory holds what others left.
    shared.data.assign(count * element, std::byte{0xA5});
    shared.shadow.assign(count, Shadow());
    shared.name = name;
  }
  return {shared.data.data(), count, element, shared.shadow.data(), shared.name.c_str(), true};
}

namespace {
std::map<std::string, Kernel>& registry() {
  static std::map<std::string, Kernel> all;
  return all;
}
}  // namespace

const std::map<std::string, Kernel>& kernels() { return registry(); }

bool add_kernel(Kernel kernel) {
  const std::string name = kernel.name;
  if (!registry().emplace(name, std::move(kernel)).second) std::abort();  // two kernels of one name
  return true;
}

std::string launch(const Kernel& kernel, unsigned blocks, const std::vector<Argument>& arguments, Order order,
                   std::uint64_t seed) {
  Running r;
  r.kernel = &kernel;
  r.arguments = &arguments;
  ++current.launch;
  r.fibers.resize(kernel.threads);
  for (unsigned t = 0; t < kernel.threads; ++t) {
    r.fibers[t].stack = stack_of(t);
    r.fibers[t].place = {t, 0, kernel.threads, blocks};
  }
  running = &r;
  std::mt19937_64 random(seed);
  const auto in_order = [&](unsigned count) {
    std::vector<unsigned> out(count);
    std::iota(out.begin(), out.end(), 0U);
    if (order == Order::reverse) std::reverse(out.begin(), out.end());
    if (order == Order::random) std::shuffle(out.begin(), out.end(), random);
    return out;
  };
  for (const unsigned block : in_order(blocks)) {
    if (!run_block(block, blocks, in_order(kernel.threads))) break;
  }
  running = nullptr;
  return r.violation.empty() ? "" : kernel.name + ": " + r.violation;
}

}  // namespace millrace::host
