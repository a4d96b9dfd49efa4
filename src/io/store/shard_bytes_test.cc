#include "src/io/store/shard_bytes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "src/base/error.h"
#include "src/io/store/dataset_for_test.h"

namespace millrace {
namespace {

using for_test::TemporaryFolder;

const std::function<void()> kGoOn = [] {};

TEST(ShardBytes, AreThoseOfTheFilesInTheirOrder) {
  const TemporaryFolder folder("part_bytes");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  const std::string text(600'000, 'x');
  const std::string a = write("a", text + "12345"), b = write("b", "");
  const ShardBytes all = {{a}, {b}}, some = {{a, 599'999, 4}}, beyond = {{a, 600'003, 100}};
  EXPECT_EQ(size_of(all), 600'005U);
  EXPECT_EQ(size_of(some), 4U);
  EXPECT_EQ(size_of(beyond), 2U);
  EXPECT_EQ(size_of({{folder / "none"}}), 0U);
  EXPECT_EQ(hash_of(all, kGoOn), hash_of(all, kGoOn));
  EXPECT_NE(hash_of(all, kGoOn), hash_of({{b}, {a}}, kGoOn));
  EXPECT_NE(hash_of(all, kGoOn), hash_of({{a}}, kGoOn)) << "a file of nothing is one, too";
  EXPECT_TRUE(have_same_bytes(all, all, kGoOn));
  EXPECT_FALSE(have_same_bytes(all, {{a}}, kGoOn));
  ::mkdir((folder / "other").c_str(), 0700);
  const std::string again = write("other/a", text + "12345"), less = write("less", text + "12344");
  EXPECT_TRUE(have_same_bytes({{a}}, {{again}}, kGoOn));
  EXPECT_EQ(hash_of({{a}}, kGoOn), hash_of({{again}}, kGoOn));
  EXPECT_FALSE(have_same_bytes({{a}}, {{less}}, kGoOn));
  EXPECT_TRUE(have_same_bytes({{again, 0, 600'004}}, {{a, 0, 600'004}}, kGoOn));
}

TEST(ShardBytes, OfWhatIsNoFileNothingIsRead) {
  const TemporaryFolder folder("part_bytes");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return folder / name;
  };
  const std::string file = write("file", "secret"), pipe = folder / "pipe", link = folder / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::symlink(file.c_str(), link.c_str()), 0);
  for (const std::string& path : {pipe, link, folder / "", folder / "none"})
    EXPECT_THROW(hash_of({{path}}, kGoOn), Failure) << path;
  EXPECT_TRUE(files_of(link).empty());
  const std::function<void()> stop = [] { throw Failure(ErrorCode::cancelled, "stopped"); };
  EXPECT_THROW(hash_of({{file}}, stop), Failure);
}

}  // namespace
}  // namespace millrace
