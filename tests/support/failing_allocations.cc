// The main() of test programs whose tests are also run with an allocation that fails: each test once for every
// allocation of a growing distance, in a process of its own.
//
//   PROGRAM                      the tests, as gtest_main() runs them
//   PROGRAM --sweep [NAME...]    every test whose name has one of these in it, or all; GTEST_TOTAL_SHARDS shares them
//   PROGRAM --one TEST NUMBER    one test, of which this allocation fails: for a debugger
//
// The rule: a test may fail, as it was told of an error; and libraries promise more than they keep (an object of
// JSON is built by a function that may not throw), so the process may end for the lack of memory, as by a kill, which
// other tests show to lose nothing. It may not crash, read what is gone, wait for ever, or end for another reason.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr long kNever = -1;
constexpr int kOutOfMemory = 99;
std::atomic<long> left{kNever};  // allocations until one fails
std::atomic<long> counted{0};

void* allocate(std::size_t bytes) {
  counted.fetch_add(1, std::memory_order_relaxed);
  if (left.load(std::memory_order_relaxed) >= 0 && left.fetch_sub(1, std::memory_order_relaxed) == 0) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

// An exception that may not leave a function, for want of memory; or any other reason, which is a fault.
void end_for_lack_of_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    std::_Exit(kOutOfMemory);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const out = allocate(bytes)) return out;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

// Fails the allocations of the test itself, not those of the framework around it.
class Arming : public testing::EmptyTestEventListener {
 public:
  explicit Arming(long distance) : distance_(distance) {}
  void OnTestStart(const testing::TestInfo&) override {
    counted = 0;
    left = distance_;
  }
  void OnTestPartResult(const testing::TestPartResult&) override { left = kNever; }
  void OnTestEnd(const testing::TestInfo&) override { left = kNever; }

 private:
  const long distance_;
};

struct Ended {
  int status = 0;
  long allocations = 0;

  bool fault() const { return !WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != kOutOfMemory); }
};

// The test in a process of its own; its allocation number `distance` fails.
Ended run(const std::string& test, long distance) {
  constexpr unsigned kMaxSeconds = 120;
  int ends[2] = {};
  if (::pipe(ends) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(kMaxSeconds);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    std::set_terminate(end_for_lack_of_memory);
    testing::GTEST_FLAG(filter) = test;
    testing::UnitTest::GetInstance()->listeners().Append(new Arming(distance));
    [[maybe_unused]] const int failed = RUN_ALL_TESTS();
    const long all = counted;
    static_cast<void>(::write(ends[1], &all, sizeof all) == sizeof all);
    std::_Exit(0);
  }
  ::close(ends[1]);
  Ended out;
  static_cast<void>(::read(ends[0], &out.allocations, sizeof out.allocations) == sizeof out.allocations);
  ::close(ends[0]);
  ::waitpid(pid, &out.status, 0);
  return out;
}

std::vector<std::string> names_of_tests() {
  std::vector<std::string> out;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t)
      out.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(t)->name());
  }
  return out;
}

long number_from(const char* variable, long otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtol(value, nullptr, 10);
}

int sweep(const std::vector<std::string>& wanted) {
  // A test with more tries large inputs: smaller ones stand beside it.
  constexpr long kMaxAllocations = 200'000, kMaxLeftOut = 12;
  const long shards = number_from("GTEST_TOTAL_SHARDS", 1), shard = number_from("GTEST_SHARD_INDEX", 0);
  // Each child runs the one test that it is told.
  for (const char* variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) ::unsetenv(variable);
  long number = 0, runs = 0, faults = 0, left_out = 0;
  for (const std::string& test : names_of_tests()) {
    bool chosen = wanted.empty();
    for (const std::string& part : wanted) chosen = chosen || test.find(part) != std::string::npos;
    if (!chosen || number++ % shards != shard) continue;
    const Ended whole = run(test, kNever);
    if (whole.fault()) {
      std::printf("%s: status %d though nothing fails\n", test.c_str(), whole.status);
      ++faults;
    }
    if (whole.allocations > kMaxAllocations) {
      ++left_out;
      continue;
    }
    for (long k = 0; k < whole.allocations; k += 1 + k / 3) {
      const Ended ended = run(test, k);
      ++runs;
      if (!ended.fault()) continue;
      ++faults;
      std::printf("%s: status %d where its allocation %ld fails\n", test.c_str(), ended.status, k);
    }
  }
  std::printf("%ld runs, %ld faults; %ld tests are too large\n", runs, faults, left_out);
  return faults == 0 && runs > 0 && left_out <= kMaxLeftOut ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--sweep") == 0) return sweep({argv + 2, argv + argc});
  if (argc == 4 && std::strcmp(argv[1], "--one") == 0) {
    testing::GTEST_FLAG(filter) = argv[2];
    testing::UnitTest::GetInstance()->listeners().Append(new Arming(std::strtol(argv[3], nullptr, 10)));
  }
  return RUN_ALL_TESTS();
}
