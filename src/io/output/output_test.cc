#include "src/io/output/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "src/io/file/trusted_file.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;
using testing::Not;

class OutputTest : public testing::Test {
 protected:
  static OutputKind kind() {
    return {"a result", ReadAccess::owner, make_json_recognizer("test", {"items", "journal?", "totals"})};
  }

  // Returns the reason why a name is refused; empty when it may be written.
  std::string find_rejection(const std::string& name, bool overwrite = false) {
    OutputRegistry outputs({overwrite, true});
    for (const std::string& input : inputs_) outputs.add_input(input);
    if (!searched_.empty()) {
      outputs.add_input_folder(searched_, [](const std::string& path) { return path.ends_with(".jpg"); });
    }
    try {
      outputs.add("--json", name, kind());
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }
  std::string read(const std::string& name) const { return read_text(folder_.at(name)).or_throw(); }
  std::size_t names() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  TestFolder folder_;
  std::vector<std::string> inputs_;
  std::string searched_;
};

TEST_F(OutputTest, ReplacesOnlyWhatThisProgramWrote) {
  const std::string ours = "{\n \"millrace\": \"test\",\n \"items\": []\n}\n";
  EXPECT_EQ(find_rejection(folder_.at("new")), "");
  EXPECT_EQ(names(), 0U) << "the proof leaves nothing";
  EXPECT_EQ(find_rejection(folder_.write("ours", ours)), "");
  EXPECT_EQ(find_rejection(folder_.write("empty", "")), "");
  EXPECT_EQ(find_rejection(folder_.write("earlier", "{\"items\": [{\"totals\": \"}\\\"\"}], \"totals\": {}}\n")), "");
  EXPECT_EQ(find_rejection(folder_.write("earlier2", "{\"items\": 1, \"journal\": \"x\", \"totals\": {}}")), "");

  const std::pair<std::string, std::string> others[] = {
      {"{\"millrace\": \"dedupe\"}", "JSON"},
      {"{\"items\": [], \"totals\": {}, \"notes\": 1}", "JSON"},
      {"{\"totals\": {}, \"items\": []}", "JSON"},
      {"{\"items\": [], \"totals\": {}", "JSON"},
      {"{\"items\": [], \"totals\": {}} and more", "JSON"},
      {"[{\"items\": [], \"totals\": {}}]", "JSON"},
      {"my notes about \"millrace\": \"test\"", "text"},
      {"\xFF\xD8\xFF\xE0 a photograph", "a JPEG picture"},
      {"<!DOCTYPE html><p>", "an HTML page"},
      {std::string("a\0b", 3), "unknown data"},
  };
  for (const auto& [text, what] : others) {
    const std::string path = folder_.write("other", text);
    EXPECT_THAT(find_rejection(path), HasSubstr("expected a result, found " + what)) << text;
    EXPECT_THAT(find_rejection(path), HasSubstr("--overwrite"));
    EXPECT_EQ(find_rejection(path, true), "");
    EXPECT_EQ(read("other"), text);
  }
}

TEST_F(OutputTest, NeverReplacesCatalogsJournalsOrDecisions) {
  const std::string catalog = "SQLite format 3" + std::string(53, '\0') + "mrac" + std::string(100, '\0');
  for (const auto& [text, what] : {std::pair<std::string, std::string>{catalog, "a catalog"},
                                   {"{\"millrace_journal\":1,\"id\":\"x\"}\n", "a journal"},
                                   {"{\n  \"millrace_decisions\": 1, \"decisions\": []}", "decisions"}}) {
    const std::string path = folder_.write("kept", text);
    for (const bool overwrite : {false, true}) EXPECT_THAT(find_rejection(path, overwrite), HasSubstr("it is " + what));
    EXPECT_EQ(read("kept"), text);
  }
  const std::string own = data_path("journals/new.json");
  EXPECT_THAT(find_rejection(own, true), HasSubstr("where this program keeps"));
  // Write protection is a person's way to say "leave this as it is".
  const std::string ours = folder_.write("ours", "{\"millrace\": \"test\"}");
  ::chmod(ours.c_str(), 0444);
  EXPECT_THAT(find_rejection(ours), HasSubstr("write-protected"));
  EXPECT_EQ(find_rejection(ours, true), "");
}

TEST_F(OutputTest, NeverAnInput) {
  const std::string photo = folder_.write("photos/a.jpg", "x"), notes = folder_.write("photos/page.json", "{}");
  const std::string decisions = folder_.write("decisions.json", "{}");
  std::filesystem::create_hard_link(decisions, folder_.at("same file"));
  inputs_ = {decisions, folder_.at("catalog.sqlite")};
  searched_ = folder_.at("photos");
  for (const bool overwrite : {false, true}) {
    for (const std::string& name : {photo, decisions, folder_.at("./photos/../photos/a.jpg"), folder_.at("same file"),
                                    folder_.at("catalog.sqlite")}) {
      EXPECT_THAT(find_rejection(name, overwrite), HasSubstr("one of the inputs")) << name;
    }
  }
  EXPECT_EQ(find_rejection(notes, true), "") << "a file in the folder that is not read";
  EXPECT_EQ(find_rejection(folder_.at("photos/new.json")), "");
}

TEST_F(OutputTest, LinksFoldersSocketsAndMissingFoldersAreRefused) {
  std::filesystem::create_symlink(folder_.write("target", "precious"), folder_.at("link"));
  std::filesystem::create_symlink("nothing", folder_.at("dangling"));
  std::filesystem::create_directory(folder_.at("folder"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder_.at("socket").copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const bool overwrite : {false, true}) {
    EXPECT_THAT(find_rejection(folder_.at("link"), overwrite), HasSubstr("symbolic link"));
    EXPECT_THAT(find_rejection(folder_.at("link"), overwrite), HasSubstr(folder_.at("target")));
    EXPECT_THAT(find_rejection(folder_.at("dangling"), overwrite), HasSubstr("symbolic link"));
    EXPECT_THAT(find_rejection(folder_.at("folder"), overwrite), HasSubstr("is a folder"));
    EXPECT_THAT(find_rejection(folder_.at("folder/"), overwrite), HasSubstr("it names a folder"));
    EXPECT_THAT(find_rejection(folder_.at("socket"), overwrite), HasSubstr("a socket"));
    EXPECT_THAT(find_rejection(folder_.at("none/out"), overwrite), HasSubstr("create the folder"));
  }
  EXPECT_EQ(read("target"), "precious");
}

TEST_F(OutputTest, TwoOutputsHaveTwoNames) {
  std::filesystem::create_directory(folder_.at("deep"));
  OutputRegistry outputs({false, true});
  EXPECT_TRUE(outputs.add("--json", folder_.at("a"), kind()));
  EXPECT_THROW(outputs.add("--csv", folder_.at("deep/../a"), kind()), Failure);
  EXPECT_TRUE(outputs.add("--csv", "-", kind()));
  EXPECT_THROW(outputs.add("--trace", "/dev/stdout", kind()), Failure);
  EXPECT_TRUE(outputs.add("--csv", "/dev/null", kind()));
  EXPECT_TRUE(outputs.add("--trace", "/dev/null", kind()));
  outputs.reserve_path("--output", folder_.at("store/"));
  EXPECT_THROW(outputs.add("--trace", folder_.at("store"), kind()), Failure);
  EXPECT_FALSE(outputs.add("--report", "", kind())) << "none was asked for";
}

TEST_F(OutputTest, NothingLiesInAStoreOrItsShards) {
  std::filesystem::create_directories(folder_.at("store.shards"));
  std::filesystem::create_directories(folder_.at("store"));
  for (const char* name : {"store/input", "store.shards/input"}) {
    OutputRegistry outputs({false, true});
    outputs.add_input(folder_.at(name));
    EXPECT_THROW(outputs.add_store("--output", folder_.at("store/")), Failure) << name;
  }
  OutputRegistry outputs({true, true});
  outputs.add_input(folder_.at("store.shards2"));
  outputs.add_store("--output", folder_.at("store/"));
  for (const char* name : {"store", "store/run.json", "store.shards/run.json", "store/../store/a"}) {
    EXPECT_THROW(outputs.add("--json", folder_.at(name), kind()), Failure) << name;
  }
  EXPECT_TRUE(outputs.add("--json", folder_.at("store.json"), kind()));
}

TEST_F(OutputTest, WhatAppearsMeanwhileStays) {
  OutputRegistry outputs({false, true});
  const OutputTarget output = outputs.add("--json", folder_.at("a"), kind());
  folder_.write("a", "somebody's");
  EXPECT_THROW(output.write("{}"), Failure);
  EXPECT_EQ(read("a"), "somebody's");
  EXPECT_EQ(names(), 1U);
}

TEST_F(OutputTest, IsItsReadersOwn) {
  const mode_t mask = ::umask(022);
  for (const ReadAccess readers : {ReadAccess::everyone, ReadAccess::owner}) {
    const std::string path = folder_.at(readers == ReadAccess::owner ? "mine" : "all");
    OutputRegistry({false, true}).add("--json", path, {"a result", readers, {}}).write("text");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, readers == ReadAccess::owner ? 0600U : 0644U);
  }
  ::umask(mask);
}

// At the start the pipe needs no reader yet; in the end the output waits for one.
TEST_F(OutputTest, PipesAreWrittenIntoAndDoNotHoldUpTheStart) {
  ASSERT_EQ(::mkfifo(folder_.at("pipe").c_str(), 0600), 0);
  const OutputTarget output = OutputRegistry({false, true}).add("--json", folder_.at("pipe"), kind());
  EXPECT_TRUE(output.is_stream());
  std::string got;
  std::thread reader([&] {
    std::ifstream in(folder_.at("pipe"), std::ios::binary);
    got.assign(std::istreambuf_iterator<char>(in), {});
  });
  output.write(std::string(300'000, 'p'));
  reader.join();
  EXPECT_EQ(got, std::string(300'000, 'p'));
  struct stat info {};
  ASSERT_EQ(::lstat(folder_.at("pipe").c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST_F(OutputTest, DevicesAreWrittenInto) {
  const OutputTarget null = OutputRegistry({false, true}).add("--json", "/dev/null", kind());
  EXPECT_TRUE(null.is_stream());
  null.write("gone");
  std::filesystem::create_symlink("/dev/full", folder_.at("full"));
  EXPECT_THROW(OutputRegistry({false, true}).add("--json", folder_.at("full"), kind()).write("x"), Failure);
}

// Output to /dev/fd/N continues at the file's position. Opened by name, the file would be truncated or replaced.
TEST_F(OutputTest, ADescriptorByNameIsThatDescriptor) {
  const Descriptor file(::open(folder_.at("log").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::write(file.get(), "before ", 7), 7);
  for (const char* folder : {"/dev/fd/", "/proc/self/fd/"}) {
    OutputRegistry({false, true}).add("--json", folder + std::to_string(file.get()), kind()).write("text ");
  }
  EXPECT_EQ(read("log"), "before text text ");
  EXPECT_THAT(find_rejection("/dev/fd/9999"), Not(""));
}

TEST_F(OutputTest, TablesAreRecognizedByTheirWholeHeader) {
  const auto ours = make_table_recognizer("group,path");
  const auto is = [&](const std::string& text) {
    return ours(**FileReader::open(folder_.write("t.csv", text), FileReader::Hashing::off));
  };
  EXPECT_TRUE(is("group,path\n1,a\n"));
  EXPECT_FALSE(is("group,path,my notes\n1,a,look again\n"));
  EXPECT_FALSE(is("group,path"));
  EXPECT_FALSE(is("\"group\",path\n"));
}

}  // namespace
}  // namespace millrace
