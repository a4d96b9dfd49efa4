// The main() of test programs whose tests are also run with allocations that fail: each test once for every allocation
// of a growing distance, in a process of its own. A test may fail then. A process that is ended by a signal, or does
// not end, is a fault: out of memory is an error like others.
//
//   PROGRAM                      the tests, as gtest_main() runs them
//   PROGRAM --sweep [NAME...]    every test whose name has one of these in it
//   PROGRAM --one TEST NUMBER    one test, of which this allocation fails: for a debugger
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr long kNever = -1;
std::atomic<long> left{kNever};  // allocations until one fails
std::atomic<long> counted{0};

void* allocate(std::size_t bytes) {
  counted.fetch_add(1, std::memory_order_relaxed);
  if (left.load(std::memory_order_relaxed) >= 0 && left.fetch_sub(1, std::memory_order_relaxed) == 0) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
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
  int signal = 0;
  long allocations = 0;
};

// The test in a process of its own; its allocation number `distance` fails.
Ended run(const std::string& test, long distance) {
  constexpr unsigned kSeconds = 60;
  int ends[2] = {};
  if (::pipe(ends) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(kSeconds);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    testing::GTEST_FLAG(filter) = test;
    testing::UnitTest::GetInstance()->listeners().Append(new Arming(distance));
    static_cast<void>(RUN_ALL_TESTS());
    const long all = counted;
    static_cast<void>(::write(ends[1], &all, sizeof all) == sizeof all);
    ::_exit(0);
  }
  ::close(ends[1]);
  Ended out;
  static_cast<void>(::read(ends[0], &out.allocations, sizeof out.allocations) == sizeof out.allocations);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
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

int sweep(const std::vector<std::string>& prefixes) {
  int runs = 0, faults = 0;
  for (const std::string& test : names_of_tests()) {
    bool wanted = prefixes.empty();
    for (const std::string& prefix : prefixes) wanted = wanted || test.find(prefix) != std::string::npos;
    if (!wanted) continue;
    const Ended whole = run(test, kNever);
    if (whole.signal != 0) std::printf("%s ends with signal %d though nothing fails\n", test.c_str(), whole.signal);
    faults += whole.signal != 0 ? 1 : 0;
    // Each of the first ones, then ever fewer.
    for (long k = 0; k < whole.allocations; k += 1 + k / 6) {
      const Ended ended = run(test, k);
      ++runs;
      if (ended.signal == 0) continue;
      ++faults;
      std::printf("%s ends with signal %d where its allocation %ld fails\n", test.c_str(), ended.signal, k);
    }
  }
  std::printf("%d runs, %d faults\n", runs, faults);
  return faults == 0 && runs > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "--sweep") == 0) return sweep({argv + 2, argv + argc});
  if (argc == 4 && std::strcmp(argv[1], "--one") == 0) {
    testing::GTEST_FLAG(filter) = argv[2];
    testing::UnitTest::GetInstance()->listeners().Append(new Arming(std::atol(argv[3])));
  }
  return RUN_ALL_TESTS();
}
