#include "src/model/compiled_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "src/io/test_pictures.h"

namespace millrace::model {
namespace {

TEST(CompiledCache, IsTheUsersAlone) {
  const TestFolder folder;
  const std::string top = folder.at("cache/millrace/models");
  const std::string made = cache_folder(top, "key").or_throw();
  struct stat info {};
  for (const std::string& each : {folder.at("cache/millrace"), top, made}) {
    ASSERT_EQ(::stat(each.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U) << each;
  }
  EXPECT_EQ(cache_folder(top, "key").or_throw(), made);
  for (const std::string& each : {folder.at("cache/millrace"), top, made}) {
    ::chmod(each.c_str(), 0777);
    EXPECT_FALSE(cache_folder(top, "key").ok()) << each;
    ::chmod(each.c_str(), 0700);
  }
  // A link is not followed, whatever its target.
  std::filesystem::remove(made);
  std::filesystem::create_directory(folder.at("elsewhere"));
  std::filesystem::create_symlink(folder.at("elsewhere"), made);
  EXPECT_FALSE(cache_folder(top, "key").ok());
}

TEST(CompiledCache, KeepsNoMoreThanAFew) {
  const TestFolder folder;
  const std::string top = folder.at("models");
  ::chmod(folder.path().c_str(), 0700);
  for (int k = 0; k < 60; ++k) ASSERT_TRUE(cache_folder(top, "key" + std::to_string(k)).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(top), {}), 32);
  EXPECT_TRUE(std::filesystem::exists(top + "/key59"));
}

TEST(CompiledCache, OneAtATimeAndNothingHalf) {
  const TestFolder folder;
  ::chmod(folder.path().c_str(), 0700);
  const std::string made = cache_folder(folder.at("models"), "key").or_throw();
  const auto at_once = std::chrono::milliseconds(0);
  {
    const CacheLock first = CacheLock::wait(made, at_once).or_throw();
    const auto second = CacheLock::wait(made, std::chrono::milliseconds(30));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::timed_out);
    folder.write("models/key/half.blob", "what a run that was killed has left");
  }
  {
    const CacheLock next = CacheLock::wait(made, at_once).or_throw();
    EXPECT_FALSE(std::filesystem::exists(made + "/half.blob"));
    folder.write("models/key/all.blob", "what was compiled to its end");
    next.done();
  }
  EXPECT_TRUE(CacheLock::wait(made, at_once).ok());
  EXPECT_TRUE(std::filesystem::exists(made + "/all.blob"));
}

TEST(CompiledCache, WhatHasChangedSinceIsClearedAway) {
  const TestFolder folder;
  ::chmod(folder.path().c_str(), 0700);
  const std::string made = cache_folder(folder.at("models"), "key").or_throw();
  const auto at_once = std::chrono::milliseconds(0);
  const auto compile = [&] {
    const CacheLock turn = CacheLock::wait(made, at_once).or_throw();
    folder.write("models/key/0.blob", std::string(100'000, 'x'));
    turn.done();
  };
  const auto is_kept = [&] {
    const CacheLock turn = CacheLock::wait(made, at_once).or_throw();
    turn.done();
    return std::filesystem::exists(made + "/0.blob");
  };
  compile();
  EXPECT_TRUE(is_kept());
  std::string flipped(100'000, 'x');
  flipped[54'321] ^= 1;
  folder.write("models/key/0.blob", flipped);
  EXPECT_FALSE(is_kept()) << "one bit is another";
  compile();
  folder.write("models/key/0.blob", std::string(99'999, 'x'));
  EXPECT_FALSE(is_kept()) << "it was cut";
  compile();
  folder.write("models/key/1.blob", "planted");
  EXPECT_FALSE(is_kept()) << "another file lies there";
  // Earlier versions wrote an empty file.
  compile();
  folder.write("models/key/whole", "");
  EXPECT_FALSE(is_kept());
}

TEST(CompiledCache, AnotherModelOrAnotherWayToRunItIsAnotherKey) {
  ModelFile file;
  file.digest = "00ff";
  SessionOptions options;
  options.input = {1, 3, 8, 8};
  const std::string key = cache_key(file, options, "a");
  EXPECT_EQ(cache_key(file, options, "a"), key);
  EXPECT_NE(cache_key(file, options, "b"), key);
  SessionOptions other = options;
  other.precision = Precision::bf16;
  EXPECT_NE(cache_key(file, other, "a"), key);
  other = options;
  other.input[2] = 16;
  EXPECT_NE(cache_key(file, other, "a"), key);
  file.digest = "00fe";
  EXPECT_NE(cache_key(file, options, "a"), key);
}

}  // namespace
}  // namespace millrace::model
