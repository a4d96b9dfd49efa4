#include "src/io/image/helper_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "src/io/image/helper_process.h"

namespace millrace {
namespace {

using testing::HasSubstr;

// A helper that runs the test's script.
class FakeHelper {
 public:
  explicit FakeHelper(const std::string& script) {
    std::string name = (std::filesystem::temp_directory_path() / "millrace-helper-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    folder_ = name;
    std::ofstream(path()) << "#!/bin/sh\n" << script;
    ::chmod(path().c_str(), 0700);
  }
  ~FakeHelper() { std::filesystem::remove_all(folder_); }
  FakeHelper(const FakeHelper&) = delete;
  FakeHelper& operator=(const FakeHelper&) = delete;
  std::string path() const { return folder_ + "/millrace-decoder"; }

 private:
  std::string folder_;
};

TEST(HelperVersions, TheRealOneAnswers) {
  const auto libraries = query_helper_versions(helper_program());
  ASSERT_TRUE(libraries.ok()) << libraries.error().message();
  ASSERT_EQ(libraries.value().libraries.size(), 4U);
  for (const HelperLibrary& library : libraries.value().libraries)
    EXPECT_THAT(library.version, testing::MatchesRegex("[0-9]+\\.[0-9.]+"));
  std::vector<std::string> sandbox_layers;
  for (const HelperSandboxLayer& layer : libraries.value().sandbox_layers) {
    sandbox_layers.push_back(layer.name);
    EXPECT_FALSE(layer.how.empty()) << layer.name;
  }
  EXPECT_THAT(sandbox_layers, testing::ElementsAre("privileges", "memory", "limits", "files", "calls"));
}

TEST(HelperVersions, MissingIsUnavailableWithARemedy) {
  const auto libraries = query_helper_versions("/nowhere/millrace-decoder");
  ASSERT_FALSE(libraries.ok());
  EXPECT_EQ(libraries.error().code, ErrorCode::unavailable);
  EXPECT_THAT(libraries.error().message(), HasSubstr("/nowhere/millrace-decoder"));
  EXPECT_FALSE(libraries.error().remedy.empty());
}

TEST(HelperVersions, CrashIsReportedWithItsOutput) {
  const FakeHelper killed("echo 'last words' >&2\nkill -SEGV $$\n");
  const auto crashed = query_helper_versions(killed.path());
  ASSERT_FALSE(crashed.ok());
  EXPECT_EQ(crashed.error().code, ErrorCode::crashed);
  EXPECT_THAT(crashed.error().what, HasSubstr("Segmentation fault"));
  EXPECT_THAT(crashed.error().what, HasSubstr("last words"));
  EXPECT_THAT(crashed.error().remedy, HasSubstr("libvips42"));

  // A program whose library is missing ends like this.
  const FakeHelper unlinked("echo 'error while loading shared libraries: libvips.so.42' >&2\nexit 127\n");
  const auto missing = query_helper_versions(unlinked.path());
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().what, HasSubstr("exit code 127: error while loading shared libraries: libvips.so.42"));
}

TEST(HelperVersions, InvalidOutputIsAnError) {
  EXPECT_FALSE(query_helper_versions(FakeHelper("echo '{\"library\": 3}'\n").path()).ok());
  EXPECT_FALSE(query_helper_versions(FakeHelper("echo '[]'\n").path()).ok());
  EXPECT_FALSE(query_helper_versions(FakeHelper("exit 0\n").path()).ok());
  EXPECT_FALSE(query_helper_versions(FakeHelper("yes\n").path()).ok());  // endless output
  // A warning between the lines does no harm.
  const FakeHelper chatty(
      "echo warning\necho '{\"library\":\"libvips\",\"version\":\"8\",\"reads\":[\"WebP\"]}'\necho "
      "warning >&2\n");
  const auto libraries = query_helper_versions(chatty.path());
  ASSERT_TRUE(libraries.ok());
  ASSERT_EQ(libraries.value().libraries.size(), 1U);
  EXPECT_THAT(libraries.value().libraries[0].reads, testing::ElementsAre("WebP"));
}

}  // namespace
}  // namespace millrace
