#include "tests/support/gpu/fake_driver.h"

#include <cstdio>
#include <cstring>

namespace millrace::fake {

void Driver::read_environment() {
  if (const char* text = std::getenv("FAKE_CUDA_MEMORY")) all = std::strtoull(text, nullptr, 10);
  if (const char* text = std::getenv("FAKE_CUDA_SEGMENT")) segment = std::strtoull(text, nullptr, 10);
  if (const char* text = std::getenv("FAKE_CUDA_ORDER")) {
    order = std::strcmp(text, "reverse") == 0  ? Order::reverse
            : std::strcmp(text, "random") == 0 ? Order::random
                                               : Order::forward;
  }
  const char* text = std::getenv("FAKE_CUDA_FAIL");
  std::string rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string one = rest.substr(0, comma);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    const std::size_t colon = one.find(':'), equals = one.find('=');
    if (colon == std::string::npos || equals == std::string::npos) continue;
    const std::string at = one.substr(colon + 1, equals - colon - 1);
    failures.push_back(
        {one.substr(0, colon), one.substr(equals + 1), std::strtoull(at.c_str(), nullptr, 10), at.back() == '+'});
  }
}

std::recursive_mutex mutex;
Driver& driver() {
  static auto* all = new Driver;  // never given back: who opened the library may end later
  return *all;
}

bool pretends(const char* what) {
  const char* wish = std::getenv("FAKE_CUDA");
  return wish != nullptr && std::strcmp(wish, what) == 0;
}

thread_local int current = 0;

void violate(const std::string& what) {
  driver().violations += what + "\n";
  std::fprintf(stderr, "fake_cuda: VIOLATION: %s\n", what.c_str());
}

// Result that FAKE_CUDA_FAIL prescribes for this call; empty: success.
std::string end_of(const char* call) {
  const std::uint64_t number = ++driver().calls[call];
  for (const Failure& failure : driver().failures) {
    if (failure.call == call && (failure.at == number || (failure.on && number >= failure.at))) return failure.end;
  }
  return "";
}

int begin_call(const char* call, std::string* end) {
  if (driver().lost) return kLost;
  if (current == 0) {
    violate(std::string("no context is current at ") + call);
    return kNoContext;
  }
  const std::string how = end_of(call);
  if (end != nullptr) *end = how;
  if (how == "memory") return kNoMemory;
  if (how == "lost") {
    driver().lost = true;
    return kLost;
  }
  return 0;
}

Memory* find_memory(unsigned long long address, std::size_t bytes, std::size_t& offset, const char* what) {
  auto after = driver().memory.upper_bound(address);
  if (after == driver().memory.begin()) {
    violate(std::string(what) + " at an address that is no allocation's");
    return nullptr;
  }
  auto& [begin, memory] = *std::prev(after);
  offset = address - begin;
  if (memory.freed) {
    violate(std::string(what) + " in memory that was freed while it was in use");
    return nullptr;
  }
  if (offset > memory.data.size() || bytes > memory.data.size() - offset) {
    violate(std::string(what) + " outside of an allocation");
    return nullptr;
  }
  return &memory;
}

// Until the event has been recorded for the `record`-th time.
int drain_until(FakeEvent& event, std::uint64_t record) {
  while (event.passed < record) {
    if (event.stream == nullptr || event.stream->steps.empty()) return kInvalid;
    FakeStream* stream = event.stream;
    Step step = std::move(stream->steps.front());
    stream->steps.pop_front();
    if (step.await) {
      if (const int code = drain_until(*step.await, step.await_record); code != 0) return code;
    }
    driver().clock += 0.001;
    if (step.event != nullptr) {
      ++step.event->passed;
      step.event->at = driver().clock;
    }
    if (step.run) {
      if (const std::string wrong = step.run(); !wrong.empty()) {
        if (wrong != "lost") violate(wrong);
        driver().lost = true;
        return kLost;
      }
    }
  }
  return 0;
}

int drain(FakeStream* stream) {
  // Equivalent to recording an event behind all steps in the stream.
  const auto last = std::make_shared<FakeEvent>();
  last->stream = stream;
  last->recorded = 1;
  stream->steps.push_back({nullptr, last, nullptr, 0});
  return drain_until(*last, 1);
}

FakeStream* stream_of(void* stream) { return stream == nullptr ? &driver().legacy : static_cast<FakeStream*>(stream); }

void enqueue(FakeStream* stream, std::function<std::string()> run) {
  stream->steps.push_back({std::move(run), nullptr, nullptr, 0});
}

}  // namespace millrace::fake
