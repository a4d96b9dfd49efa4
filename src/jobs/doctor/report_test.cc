#include "src/jobs/doctor/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/json.h"
#include "src/io/image/helper_process.h"

namespace millrace::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

const FormatSupport& find(const std::vector<FormatSupport>& formats, const std::string& name) {
  for (const FormatSupport& format : formats) {
    if (format.name == name) return format;
  }
  throw std::out_of_range(name);
}

TEST(Doctor, FormatsFollowTheHelper) {
  const auto formats =
      formats_of(HelperVersions{{{"libvips", "8.14.1", {"WebP", "TIFF"}}, {"giflib", "5.2.1", {"GIF"}}}, {}});
  EXPECT_TRUE(find(formats, "JPEG").reads);
  EXPECT_TRUE(find(formats, "JPEG").writes);
  EXPECT_TRUE(find(formats, "WebP").reads);
  EXPECT_EQ(find(formats, "WebP").by, "libvips 8.14.1, in the helper");
  EXPECT_EQ(find(formats, "WebP").remedy, "");
  EXPECT_FALSE(find(formats, "HEIF").reads);
  EXPECT_THAT(find(formats, "HEIF").remedy, HasSubstr("libheif1"));
  EXPECT_THAT(find(formats, "RAW").remedy, HasSubstr("libraw20"));
}

TEST(Doctor, WithoutAHelperTheMainFormatsRemain) {
  const auto formats = formats_of(Error{ErrorCode::unavailable, "not there", "decoder", "build it"});
  EXPECT_TRUE(find(formats, "JPEG").reads);
  EXPECT_TRUE(find(formats, "PNG").reads);
  for (const char* name : {"GIF", "BMP", "PNM", "TIFF", "WebP", "HEIF", "JPEG XL", "JPEG 2000", "RAW"}) {
    EXPECT_FALSE(find(formats, name).reads) << name;
    EXPECT_EQ(find(formats, name).remedy, "build it");
  }
}

TEST(Doctor, ThisMachine) {
  const Findings findings = examine("1.2.3", helper_program());
  EXPECT_TRUE(findings.passed());
  EXPECT_EQ(findings.helper, "");
  const bool any = std::any_of(findings.devices.begin(), findings.devices.end(),
                               [](const auto& state) { return state.device.kind == DeviceKind::cuda; });
  EXPECT_TRUE(any == findings.cuda.empty());
  for (const LibraryVersion& library : findings.libraries) EXPECT_FALSE(library.version.empty()) << library.name;
  const std::string text = text_of(findings);
  for (const char* expected : {"millrace 1.2.3", "in use; available:", "--memory auto", "libjpeg-turbo", "SQLite",
                               "oneTBB", "Highway", "LibRaw", "giflib", "libvips"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
  EXPECT_THAT(text, Not(HasSubstr("WRONG")));
  const auto json = Json::parse(json_of(findings).dump());
  EXPECT_EQ(json.at("cpu").at("level"), name_of(current_cpu_level()));
  EXPECT_EQ(json.at("self_test").at("passed"), true);
  EXPECT_EQ(json.at("helper").at("works"), true);
  EXPECT_EQ(json.at("helper").at("walls").size(), 5U);
}

TEST(Doctor, AMissingHelperIsReportedWithItsRemedy) {
  const Findings findings = examine("1.2.3", "/nowhere/millrace-decoder");
  EXPECT_TRUE(findings.passed());  // a missing helper is not a failure
  const std::string text = text_of(findings);
  EXPECT_THAT(text, HasSubstr("/nowhere/millrace-decoder: the decoding helper was not found"));
  EXPECT_THAT(text, HasSubstr("HEIF           NOT READ"));
  EXPECT_THAT(text, HasSubstr("- build the target millrace-decoder"));
}

TEST(Doctor, AMissingSandboxLayerIsListedAndNoFailure) {
  Findings findings;
  findings.sandbox_layers = {{"files", false, "this kernel has no Landlock"}, {"calls", true, "seccomp"}};
  EXPECT_TRUE(findings.passed());
  EXPECT_THAT(text_of(findings), HasSubstr("files          MISSING        this kernel has no Landlock"));
  EXPECT_EQ(json_of(findings).at("helper").at("walls").at(1).at("stands"), true);
}

TEST(Doctor, AWrongAnswerNamesLevelAndOperation) {
  Findings findings;
  findings.levels = {CpuLevel::baseline, CpuLevel::avx2};
  findings.self_test = {{CpuLevel::baseline, "luma", "1", "1"}, {CpuLevel::avx2, "luma", "1", "2"}};
  EXPECT_FALSE(findings.passed());
  EXPECT_THAT(text_of(findings), HasSubstr("luma at level avx2: got 2, expected 1"));
  EXPECT_EQ(json_of(findings).at("self_test").at("passed"), false);
}

TEST(Doctor, NamesFromOutsideCannotBreakTheReport) {
  Findings findings;
  findings.machine.cpu_name = "evil\x1B[2J\xFF";
  Device device;
  device.kind = DeviceKind::cuda;
  device.name = "GPU\xFF\n\x1B[2J";
  device.memory = 24_GiB;
  device.capability = "8.6";
  device.driver = "12.4";
  findings.devices = {{device, {{"hamming", "", "", false, false, "evil\x1B[2J\xFF", false, true}}}};
  const std::string text = text_of(findings);
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
  EXPECT_THAT(text, HasSubstr("24 GiB, compute capability 8.6, driver for CUDA 12.4"));
  EXPECT_NO_THROW(json_of(findings).dump());
}

}  // namespace
}  // namespace millrace::doctor
