// Tests copies, launches, events and buffers on every device of this machine, with test kernels.
#include "src/device/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "src/device/devices_for_test.h"
#include "tests/support/gpu/probe_entries.h"
#include "tests/support/gpu/ptx_lint.h"

namespace millrace {
namespace {

class OnEveryDevice : public testing::TestWithParam<TestDevice> {
 protected:
  void SetUp() override {
    if (GetParam().is_simulated()) fake_.emplace(FakeCudaOptions{GetParam().order, "", ""});
    accelerator_.emplace(GetParam().device, AcceleratorOptions{VerifyMode::none, 4_MiB, 0}, budget_, trace_);
  }
  void TearDown() override {
    accelerator_.reset();
    if (fake_) {
      EXPECT_EQ(fake_->violations(), "");
      EXPECT_EQ(fake_->count("live"), 0U) << fake_->summary();
    }
    EXPECT_EQ(oclgrind_findings(), "");
  }

  Budget budget_{64_MiB};
  Trace trace_;
  std::optional<FakeCuda> fake_;
  std::optional<Accelerator> accelerator_;
};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(i % 97) * 0.37F - 11.3F;
  return out;
}

std::vector<float> turned(const std::vector<float>& from, float scale, float more) {
  std::vector<float> out(from.size());
  for (std::size_t first = 0; first < from.size(); first += 64) {
    const std::size_t length = std::min<std::size_t>(64, from.size() - first);
    for (std::size_t at = 0; at < length; ++at) {
      const float scaled = from[first + length - 1 - at] * scale;
      out[first + at] = scaled + more;
    }
  }
  return out;
}

constexpr float kScale = 1.1F, kMore = -0.7F;

// A fused multiply and add on the device would show in the last bits.
TEST_P(OnEveryDevice, FloatsAreTheHosts) {
  const std::vector<float> from = numbers(1000);
  const auto count = static_cast<std::uint32_t>(from.size());
  Queue queue(*accelerator_);
  DeviceBuffer<float> a(*accelerator_, from.size(), "test"), b(*accelerator_, from.size(), "test");
  for (int again = 0; again < 3; ++again) {
    std::vector<float> got(from.size());
    queue.upload(std::span<const float>(from), a);
    queue.launch(bodies::probe(), kProbeTurn, (count + 63) / 64, a, b, count, kScale, kMore);
    queue.download(b, std::span(got));
    EXPECT_EQ(got, turned(from, kScale, kMore));
  }
  const DeviceCounts counts = accelerator_->counts();
  EXPECT_EQ(counts.uploads, 3U);
  EXPECT_EQ(counts.upload_bytes, 3 * 4 * from.size());
  EXPECT_EQ(counts.launches, 3U);
  EXPECT_EQ(counts.download_bytes, 3 * 4 * from.size());
  EXPECT_EQ(counts.peak.count, 2 * 4 * from.size());
}

TEST_P(OnEveryDevice, DoublesAreTheHosts) {
  std::vector<double> from(500), got(500), truth(500);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<double>(i) * 0.013 - 3;
    const double fused = std::fma(from[i], 1.7, 1.0);
    truth[i] = std::sqrt(fused * fused) / (from[i] * from[i] + 3.0) - 1.7;
  }
  Queue queue(*accelerator_);
  DeviceBuffer<double> a(*accelerator_, from.size(), "test"), b(*accelerator_, from.size(), "test");
  queue.upload(std::span<const double>(from), a);
  queue.launch(bodies::probe(), kProbeNumbers, 8, a, b, std::uint32_t{500}, 1.7);
  queue.download(b, std::span(got));
  EXPECT_EQ(got, truth);
}

// An expression evaluated in 64 bits, or a number flushed to zero, would show.
TEST_P(OnEveryDevice, SinglesStaySingles) {
  std::vector<float> from(512), got(512), truth(512);
  const float scale = 1.3F;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = i % 4 == 3 ? std::ldexp(1.0F + static_cast<float>(i) * 0.01F, -140) : static_cast<float>(i) * 0.377F - 50;
    const float fused = std::fma(from[i], scale, from[i]), squared = from[i] * from[i];
    const float scaled = fused * scale, three = 3.0F * from[i], below = scale - three,
                quotient = std::sqrt(squared) / below;
    truth[i] = scaled + quotient;
  }
  Queue queue(*accelerator_);
  DeviceBuffer<float> a(*accelerator_, from.size(), "test"), b(*accelerator_, from.size(), "test");
  queue.upload(std::span<const float>(from), a);
  queue.launch(bodies::probe(), kProbeSingles, 8, a, b, std::uint32_t{512}, scale);
  queue.download(b, std::span(got));
  EXPECT_EQ(got, truth);
}

TEST_P(OnEveryDevice, AtomicsMeetInIntegers) {
  std::vector<std::uint32_t> values(3000), counts(16), truth(16);
  std::uint32_t bits = 0, all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(i * i % 1021);
    ++truth[values[i] % 16];
    all |= values[i];
  }
  Queue queue(*accelerator_);
  DeviceBuffer<std::uint32_t> in(*accelerator_, values.size(), "test"), out(*accelerator_, 16, "test"),
      seen(*accelerator_, 1, "test");
  queue.upload(std::span<const std::uint32_t>(values), in);
  queue.fill(out, 0);
  queue.fill(seen, 0);
  queue.launch(bodies::probe(), kProbeCount, 5, in, std::uint32_t{3000}, out, seen);
  queue.download(out, std::span(counts));
  queue.download(seen, std::span(&bits, 1));
  EXPECT_EQ(counts, truth);
  EXPECT_EQ(bits, all);
}

// The kernel runs on another queue than the copy; only the event between them orders the two.
TEST_P(OnEveryDevice, AKernelWaitsForTheOtherQueuesCopy) {
  const std::vector<float> from = numbers(640);
  const auto count = static_cast<std::uint32_t>(from.size());
  for (int again = 0; again < 3; ++again) {
    DeviceBuffer<float> a(*accelerator_, from.size(), "test"), b(*accelerator_, from.size(), "test");
    PinnedBuffer<float> staged(*accelerator_, from.size(), "test"), back(*accelerator_, from.size(), "test");
    Queue copies(*accelerator_), kernels(*accelerator_);
    std::copy(from.begin(), from.end(), staged.span().begin());
    copies.upload(staged, from.size(), a);
    kernels.wait(copies.record());
    kernels.launch(bodies::probe(), kProbeTurn, count / 64, a, b, count, kScale, kMore);
    kernels.download(b, from.size(), back);
    kernels.finish();
    EXPECT_EQ(std::vector<float>(back.span().begin(), back.span().end()), turned(from, kScale, kMore))
        << "a copy came late";
    copies.finish();
  }
}

// A buffer that its owner releases must stay alive while the device uses it.
TEST_P(OnEveryDevice, ABufferLivesAsLongAsItIsInUse) {
  const std::vector<float> from = numbers(640);
  const auto count = static_cast<std::uint32_t>(from.size());
  Queue queue(*accelerator_);
  DeviceBuffer<float> b(*accelerator_, from.size(), "test");
  PinnedBuffer<float> back(*accelerator_, from.size(), "test");
  {
    DeviceBuffer<float> a(*accelerator_, from.size(), "test");
    PinnedBuffer<float> staged(*accelerator_, from.size(), "test");
    std::copy(from.begin(), from.end(), staged.span().begin());
    queue.upload(staged, from.size(), a);
    queue.launch(bodies::probe(), kProbeTurn, count / 64, a, b, count, kScale, kMore);
  }
  queue.download(b, from.size(), back);
  queue.finish();
  EXPECT_EQ(std::vector<float>(back.span().begin(), back.span().end()), turned(from, kScale, kMore));
}

TEST_P(OnEveryDevice, MemoryHasALimit) {
  DeviceBuffer<std::uint8_t> most(*accelerator_, (4_MiB).count, "test");
  EXPECT_THROW(DeviceBuffer<std::uint8_t>(*accelerator_, 1, "one more"), OutOfMemory);
  most.release();
  EXPECT_NO_THROW(DeviceBuffer<std::uint8_t>(*accelerator_, 1, "one more"));
  EXPECT_THROW(PinnedBuffer<std::uint8_t>(*accelerator_, (65_MiB).count, "pinned"), OutOfMemory) << "the host's budget";
}

TEST_P(OnEveryDevice, WrongCallsAreRefused) {
  Queue queue(*accelerator_);
  DeviceBuffer<float> a(*accelerator_, 8, "test");
  std::vector<float> nine(9);
  EXPECT_THROW(queue.upload(std::span<const float>(nine), a), Failure);
  EXPECT_THROW(queue.download(a, std::span(nine)), Failure);
  EXPECT_THROW(queue.launch(bodies::probe(), kProbeTurn, 1, a, a, 8U, kScale), Failure) << "an argument is missing";
  EXPECT_THROW(queue.launch(bodies::probe(), kProbeTurn, 1, a, 8U, 8U, kScale, kMore), Failure)
      << "a number for an array";
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, OnEveryDevice, testing::ValuesIn(devices_for_test()), device_test_name);

TEST(Ptx, ProbesAreWhatTheyDeclare) {
  if (bodies::probe().ptx.empty()) GTEST_SKIP() << "this build has no clang for PTX";
  EXPECT_THAT(lint_ptx(bodies::probe(), kProbeEntries), testing::IsEmpty());
}

// Each line is an instruction that a compiler might emit.
TEST(Ptx, TheLintSeesWhatADeviceMightDoOtherwise) {
  const auto found = [](const std::string& line) {
    const std::string ptx = line + "\n";
    const KernelSource source{"x", ptx, "", "", true, true, ""};
    return lint_ptx(source, {});
  };
  for (const char* bad :
       {"\tadd.f32 \t%f1, %f2, %f3;", "\tmul.ftz.f32 \t%f1, %f2, %f3;", "\tdiv.approx.f32 \t%f1, %f2, %f3;",
        "\tdiv.full.f32 \t%f1, %f2, %f3;", "\tsqrt.approx.ftz.f32 \t%f1, %f2;", "\tsin.approx.f32 \t%f1, %f2;",
        "\tex2.approx.f32 \t%f1, %f2;", "\trsqrt.approx.f64 \t%fd1, %fd2;", "\tatom.global.add.f32 \t%f1, [%rd1], %f2;",
        "\tred.global.add.f64 \t[%rd1], %fd2;", "\t.local .align 4 .b8 \t__local_depot0[16];",
        "\t@%p1 add.f64 \t%fd1, %fd2, %fd3;", "\tadd.rz.f32 \t%f1, %f2, %f3;",
        "\tcall.uni (retval0), sinf, (param0);"}) {
    EXPECT_FALSE(found(bad).empty()) << bad;
  }
  for (const char* good :
       {"\tadd.rn.f32 \t%f1, %f2, %f3;", "\tadd.s32 \t%r1, %r2, %r3;", "\tmad.lo.s32 \t%r1, %r2, %r3, %r4;",
        "\tsqrt.rn.f64 \t%fd1, %fd2;", "\tatom.global.add.u32 \t%r1, [%rd1], 1;"}) {
    EXPECT_THAT(found(good), testing::IsEmpty()) << good;
  }
  const KernelSource singles{"x", "\tmul.rn.f64 \t%fd1, %fd2, %fd3;\n", "", "", true, false, ""};
  EXPECT_FALSE(lint_ptx(singles, {}).empty()) << "an expression that went on in 64 bits";
}

}  // namespace
}  // namespace millrace
