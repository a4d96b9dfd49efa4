#include "src/io/process/helper_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace millrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kHelper = "millrace-decoder";

class HelperPath : public ::testing::Test {
 protected:
  HelperPath() {
    if (const char* set = std::getenv("PATH")) path_ = set;
    std::string folder = fs::temp_directory_path() / "millrace-helper-place-XXXXXX";
    root_ = fs::canonical(::mkdtemp(folder.data()));
    package_ = root_ / "site-packages/millrace";
    write(package_ / "__init__.py");
    write(root_ / "prefix/bin/millrace", true);
    write(root_ / "prefix/libexec/millrace" / kHelper, true);
  }
  ~HelperPath() override {
    fs::remove_all(root_);
    ::setenv("PATH", path_.c_str(), 1);
  }

  static void write(const fs::path& path, bool program = false) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    if (program) fs::permissions(path, fs::perms::owner_all);
  }
  static void set_path(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }
  std::string installed() const { return root_ / "prefix/libexec/millrace" / kHelper; }
  std::string nowhere() const { return package_ / kHelper; }
  std::string found() const { return find_helper_near(package_, kHelper); }

  fs::path root_, package_;
  std::string path_;
};

TEST_F(HelperPath, OfAPackageIsThatOfTheProgramOnThePath) {
  set_path("/nowhere:" + (root_ / "prefix/bin").string());
  EXPECT_EQ(found(), installed());
  write(nowhere(), true);
  EXPECT_EQ(found(), nowhere()) << "its own goes first";
}

TEST_F(HelperPath, OfABuildLiesBesideItsProgram) {
  write(root_ / "build/millrace", true);
  write(root_ / "build" / kHelper, true);
  set_path(root_ / "build");
  EXPECT_EQ(found(), root_ / "build" / kHelper);
}

TEST_F(HelperPath, APackagesOwnCommandIsPassedOver) {
  // An environment has this in its bin, with no helper beside it.
  write(root_ / "environment/bin/millrace", true);
  set_path((root_ / "environment/bin").string() + ":" + (root_ / "prefix/bin").string());
  EXPECT_EQ(found(), installed());
}

TEST_F(HelperPath, ALinkIsFollowedToTheProgram) {
  fs::create_directories(root_ / "links/bin");
  fs::create_symlink(root_ / "prefix/bin/millrace", root_ / "links/bin/millrace");
  // The folder of the link is not the folder of the program.
  write(root_ / "links/libexec/millrace" / kHelper, true);
  write(root_ / "links/bin" / kHelper, true);
  set_path(root_ / "links/bin");
  EXPECT_EQ(found(), installed());
}

TEST_F(HelperPath, RelativeFoldersOfThePathAreNotLookedInto) {
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "prefix/bin");
  for (const char* path : {"", ".", ":", "../bin", "bin:.:"}) {
    set_path(path);
    EXPECT_EQ(found(), nowhere()) << path;
  }
  fs::current_path(root_);
  set_path("prefix/bin");
  EXPECT_EQ(found(), nowhere());
  fs::current_path(before);
  ::unsetenv("PATH");
  EXPECT_EQ(found(), nowhere());
}

TEST_F(HelperPath, AHelperWithoutAProgramIsNone) {
  write(root_ / "loose" / kHelper, true);
  set_path(root_ / "loose");
  EXPECT_EQ(found(), nowhere());
  // A helper beside a program that cannot be executed is not taken either.
  write(root_ / "loose/millrace");
  EXPECT_EQ(found(), nowhere());
  // Only an installation's bin has a libexec.
  write(root_ / "work/millrace", true);
  write(root_ / "libexec/millrace" / kHelper, true);
  set_path(root_ / "work");
  EXPECT_EQ(found(), nowhere());
}

TEST_F(HelperPath, ALibraryIsFoundThoughNobodyCanRunIt) {
  constexpr const char* kLibrary = "libmillrace-openvino.so";
  const fs::path library = root_ / "prefix/libexec/millrace" / kLibrary;
  write(library);
  EXPECT_EQ(find_helper_near(root_ / "prefix/bin", kLibrary), library);
  fs::permissions(root_ / "prefix/libexec/millrace" / kHelper, fs::perms::owner_read);
  EXPECT_EQ(find_helper_near(root_ / "prefix/bin", kHelper), root_ / "prefix/bin" / kHelper)
      << "a program that is none";
}

TEST_F(HelperPath, OutsideOfAPackageThePathIsNothing) {
  fs::remove(package_ / "__init__.py");
  set_path(root_ / "prefix/bin");
  EXPECT_EQ(found(), nowhere());
  EXPECT_FALSE(is_in_python_package());
  EXPECT_THAT(helper_remedy(kHelper), HasSubstr("build the target millrace-decoder"));
}

TEST_F(HelperPath, WhatIsSetGoesFirst) {
  const char* before = std::getenv("MILLRACE_HELPERS");
  const std::optional<std::string> kept = before == nullptr ? std::nullopt : std::optional<std::string>(before);
  ::setenv("MILLRACE_HELPERS", "/elsewhere", 1);
  EXPECT_EQ(find_helper(kHelper), "/elsewhere/millrace-decoder");
  kept ? ::setenv("MILLRACE_HELPERS", kept->c_str(), 1) : ::unsetenv("MILLRACE_HELPERS");
}

}  // namespace
}  // namespace millrace
