// Tests of failures of the disk, of folders and of the journal, and of the trust in journals.
#include <gmock/gmock.h>

#include "src/base/full_disk_for_test.h"
#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

using ApplyFailures = Scene;

constexpr uid_t kNobody = 65534;

TEST_F(ApplyFailures, AFolderThatMayNotBeWrittenIsAnOutcome) {
  put("a.jpg", "the picture");
  put("closed/b.jpg", "the picture");
  put("closed/b.xmp", "x");
  put("open/c.jpg", "the picture");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "closed/b.jpg");
  decide("1", "remove", "open/c.jpg");
  write_decisions();
  ::chmod((photos_ + "/closed").c_str(), 0555);
  // If the tests run as root, the run belongs to another user, who owns everything but that folder.
  if (::getuid() == 0) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top_ + "/data"))
      ASSERT_EQ(::chown(entry.path().c_str(), kNobody, kNobody), 0);
    for (const std::string& path : {photos_ + "/open", top_, top_ + "/data"})
      ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  }
  const ApplyOptions o = options("delete");
  const RunResult ran = in_process([&](RunContext& context) {
    if (::getuid() == 0 && ::setuid(kNobody) != 0) throw Failure(ErrorCode::internal, "setuid");
    return apply(o, context);
  });
  EXPECT_EQ(ran.code, 3) << ran.json.dump(1);
  EXPECT_EQ(ran.of("b.jpg"), "failed");
  EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("ermission"));
  EXPECT_EQ(ran.of("c.jpg"), "done");
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/closed/b.xmp"));
  ::chmod((photos_ + "/closed").c_str(), 0755);
  if (::getuid() == 0) {
    for (const std::string& path : {top_, top_ + "/data", journal()}) ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top_ + "/data"))
      ASSERT_EQ(::chown(entry.path().c_str(), 0, 0), 0);
  }
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/open/c.jpg"));
}

TEST_F(ApplyFailures, AFullDiskIsAnOutcome) {
  const std::string other = elsewhere();
  if (other.empty()) GTEST_SKIP() << "no second file system to write to";
  put("a.jpg", std::string(200'000, 'x'));
  put("big.jpg", std::string(200'000, 'x'));
  put("big.xmp", "its sidecar");
  put("k.jpg", "small");
  put("small.jpg", "small");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "big.jpg");
  decide("2", "keep", "k.jpg");
  decide("2", "remove", "small.jpg");
  write_decisions();
  const auto before = disk();
  const ApplyOptions o = options("move=" + other);
  const RunResult ran = in_process([&](RunContext& context) {
    const FullDisk full(100'000);
    return apply(o, context);
  });
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.of("big.jpg"), "failed") << ran.json.dump(1);
  EXPECT_EQ(ran.of("small.jpg"), "done");
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/big.jpg"));
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/big.xmp")) << "the files of one picture stay together";
  EXPECT_FALSE(std::filesystem::exists(other + "/big.xmp"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(ApplyFailures, WithoutAJournalNothingMoreIsDone) {
  put("a.jpg", "the picture");
  for (const char* name : {"b.jpg", "c.jpg", "d.jpg", "e.jpg"}) put(name, "the picture");
  decide("1", "keep", "a.jpg");
  for (const char* name : {"b.jpg", "c.jpg", "d.jpg", "e.jpg"}) decide("1", "remove", name);
  write_decisions();
  const auto before = disk();
  const ApplyOptions o = options("delete");
  // The disk becomes full when the second file is about to be noted in the journal.
  const RunResult ran = in_process([&](RunContext& context) {
    static std::optional<FullDisk> full;
    set_step_hook([](const char* next) {
      static int lines = 0;
      if (std::string(next) == "write a line of the journal" && ++lines == 5) full.emplace(rlim_t{700});
    });
    ApplyReport applied = apply(o, context);
    full.reset();
    return applied;
  });
  EXPECT_EQ(ran.code, 3) << ran.json.dump(1);
  EXPECT_EQ(ran.of("b.jpg"), "done");
  EXPECT_EQ(ran.of("e.jpg"), "failed");
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/e.jpg"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(ApplyFailures, PurgeIsADryRunWithoutGoAndTouchesNothingElse) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto before = disk();
  EXPECT_EQ(run_purge(false).json["items"][0]["state"], "would");
  EXPECT_EQ(disk(), before);
  // The kept file is gone, so the one that was set aside is the last copy.
  std::filesystem::rename(photos_ + "/a.jpg", top_ + "/away.jpg");
  const RunResult last = run_purge();
  EXPECT_EQ(last.code, 3);
  EXPECT_THAT(last.json["items"][0]["reason"].get<std::string>(), HasSubstr("is missing"));
  std::filesystem::rename(top_ + "/away.jpg", photos_ + "/a.jpg");
  EXPECT_EQ(disk(), before);
  EXPECT_EQ(run_purge().code, 0);
  EXPECT_EQ(disk().size(), 1U);
  EXPECT_EQ(run_apply("delete").of("b.jpg", "reason"), "purged");
}

TEST_F(ApplyFailures, PurgeOfATrashJournalIsRefused) {
  pair();
  ASSERT_EQ(run_apply("trash").code, 0);
  EXPECT_EQ(run_purge().code, 2);
}

TEST_F(ApplyFailures, AJournalIsForItsDecisionsAndHeldByOneRun) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  EXPECT_EQ(run_apply("trash").code, 1) << "another action, the same journal";
  const JournalWriter holder(journal(), Trust::checked);
  const RunResult second = run_undo();
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.json["failure"].get<std::string>(), HasSubstr("another run"));
}

TEST_F(ApplyFailures, JournalsUnderTheDataFolderAreNumbered) {
  pair();
  write_decisions();
  const auto before = disk();
  ApplyOptions o = options("delete");
  o.journal.clear();
  const RunResult first = run(o);
  const std::string id = first.json["id"].text();
  EXPECT_EQ(first.json["journal"], top_ + "/data/millrace/journals/" + id + ".jsonl");
  EXPECT_EQ(run(o).json["id"].text(), id) << "the same journal goes on";
  EXPECT_EQ(run_undo_of(id).code, 0);
  EXPECT_EQ(disk(), before);
  EXPECT_EQ(run(o).json["id"].text(), id + "-2") << "what was undone is over";
  EXPECT_EQ(run_undo_of(id + "-2").code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(ApplyFailures, AStrangersFolderOfOurNameIsNotUsed) {
  pair();
  const RunResult dry = run_apply("delete", false);
  const std::string folder = std::filesystem::path(dry.of("b.jpg", "to")).parent_path();
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/b.jpg") << "a stranger";
  const auto before = disk();
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(std::filesystem::path(ran.of("b.jpg", "to")).parent_path(), folder + "-2");
  EXPECT_EQ(run_purge().code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder + "/b.jpg"));
}

// A journal is untrusted: if it names a path that this program would not have named, all of it is refused.
TEST_F(ApplyFailures, AJournalThatNamesOtherPathsIsRefused) {
  const std::string precious = put("precious.txt", "the only one");
  const auto edited = [&](const std::string& action, const std::function<void(Json&)>& edit) {
    fresh();
    put("precious.txt", "the only one");
    pair();
    const RunResult done = run_apply(action);
    EXPECT_EQ(done.code, 0) << done.json.dump(1);
    std::ifstream in(journal());
    std::string text, line;
    while (std::getline(in, line)) {
      Json json = Json::parse(line);
      if (json.contains("intent") || json.contains("millrace_journal") || json.contains("folder")) edit(json);
      text += json.dump() + "\n";
    }
    std::ofstream(journal()) << text;
    const auto before = disk();
    const RunResult back = run_undo();
    EXPECT_EQ(back.code, 1) << back.json.dump(1);
    EXPECT_THAT(back.json.value("failure", ""), HasSubstr("did not write this journal"));
    EXPECT_EQ(run_purge().code, action == "delete" ? 1 : back.code);
    EXPECT_EQ(run_apply(action).code, 1);
    EXPECT_EQ(disk(), before);
    EXPECT_EQ(contents(precious), "the only one");
  };
  const auto set = [](const char* field, const std::string& value) {
    return [field, value](Json& line) {
      if (line.contains("intent")) line[field] = value;
    };
  };
  const std::string moved = "move=" + top_ + "/moved";
  for (const std::string& action : {std::string("delete"), moved, std::string("hardlink")}) {
    edited(action, set("path", photos_ + "/../../etc/x.jpg"));
    edited(action, set("path", top_ + "/cron.d/evil"));
    edited(action, set("to", precious));
    edited(action, set("temporary", precious));
    edited(action, set("survivor", photos_ + "/sub/../a.jpg"));
    edited(action, [](Json& line) {
      if (line.contains("intent")) line["to"] = line["to"].get<std::string>() + std::string("\0.jpg", 5);
    });
    edited(action, [](Json& line) {
      if (line.contains("millrace_journal")) line["id"] = "../../x";
    });
    edited(action, [](Json& line) {
      if (line.contains("millrace_journal")) line["id"] = "0123456789abcdef";
    });
  }
  edited("delete", [&](Json& line) {
    if (line.contains("folder")) line["folder"] = photos_;
  });
  edited("trash", set("to", precious));
  edited("trash", set("temporary", precious));
}

// Whoever could have written to a journal could have put anything into it.
TEST_F(ApplyFailures, AJournalThatOthersCouldHaveWrittenIsNotBelieved) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto refused = [&](const char* why, Trust trust = Trust::checked) {
    const auto before = disk();
    const RunResult back = in_process([&](RunContext& context) { return undo(journal(), true, trust, context); });
    EXPECT_EQ(back.code, 1) << why;
    EXPECT_THAT(back.json.value("failure", ""), HasSubstr(why));
    EXPECT_EQ(disk(), before);
  };
  ASSERT_EQ(::chmod(journal().c_str(), 0602), 0);
  refused("can write to it");
  ASSERT_EQ(::chmod(journal().c_str(), 0600), 0);
  ASSERT_EQ(::chmod(top_.c_str(), 0777), 0);
  refused("can write to its folder");
  ASSERT_EQ(::chmod(top_.c_str(), 0755), 0);
  std::filesystem::rename(journal(), top_ + "/data/real.jsonl");
  std::filesystem::create_symlink(top_ + "/data/real.jsonl", journal());
  refused("symbolic link");
  refused("symbolic link", Trust::files);
  std::filesystem::rename(top_ + "/data/real.jsonl", journal());
  if (::getuid() == 0) {
    ASSERT_EQ(::chown(journal().c_str(), kNobody, kNobody), 0);
    refused("belongs to");
    ASSERT_EQ(::chown(journal().c_str(), 0, 0), 0);
  }
  // On file systems without modes, a person declares the trust.
  ASSERT_EQ(::chmod(journal().c_str(), 0777), 0);
  const RunResult back = in_process([&](RunContext& context) { return undo(journal(), true, Trust::files, context); });
  EXPECT_EQ(back.code, 0) << back.json.dump(1);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/b.jpg"));
}

// A file that a person received, unpacked or saved belongs to that person too: only a journal that this program noted
// is trusted.
TEST_F(ApplyFailures, AJournalThatNobodyHereMadeIsNotBelieved) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string sent = top_ + "/sent.jsonl";
  std::filesystem::copy_file(journal(), sent);
  ::chmod(sent.c_str(), 0600);
  const auto before = disk();
  const RunResult refused = run_undo_of(sent);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.json.value("failure", ""), HasSubstr("your data folder has no note"));
  EXPECT_EQ(disk(), before);
  const RunResult trusted = in_process([&](RunContext& context) { return undo(sent, true, Trust::files, context); });
  EXPECT_EQ(trusted.code, 0);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/b.jpg"));
}

// A file with other text is not mistaken for a journal that was cut off.
TEST_F(ApplyFailures, AnotherFileIsNotMadeAJournal) {
  pair();
  for (const char* text : {"my only recovery key", "{\"millrace_decisions\": 1", "\n"}) {
    std::ofstream(journal()) << text;
    EXPECT_EQ(run_apply("delete").code, 1) << text;
    EXPECT_EQ(contents(journal()), text);
    EXPECT_EQ(run_undo().code, 1);
    EXPECT_TRUE(std::filesystem::exists(photos_ + "/b.jpg"));
  }
  std::ofstream(journal()) << "{\"millrace_jou";
  EXPECT_EQ(run_apply("delete").code, 0) << "a run that was cut off in its first line";
}

// Another user makes the folder for files to be set aside at the last moment.
TEST_F(ApplyFailures, NothingIsSetAsideInAFolderOfOthers) {
  if (::getuid() != 0) GTEST_SKIP() << "needs another user: run as root";
  pair();
  write_decisions();
  const std::string folder = std::filesystem::path(run_apply("delete", false).of("b.jpg", "to")).parent_path();
  static std::string planted;
  planted = folder;
  const ApplyOptions o = options("delete");
  const RunResult ran = in_process([&](RunContext& context) {
    set_step_hook([](const char* next) {
      if (std::string(next) != "make a folder" || std::filesystem::exists(planted)) return;
      std::filesystem::create_directory(planted);
      static_cast<void>(::chmod(planted.c_str(), 0777));
      static_cast<void>(::chown(planted.c_str(), kNobody, kNobody));
    });
    return apply(o, context);
  });
  EXPECT_EQ(ran.of("b.jpg"), "failed") << ran.json.dump(1);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/b.jpg"));
}

// Purge destroys a file only while its copy still has the recorded size.
TEST_F(ApplyFailures, PurgeAsksWhetherTheSurvivorIsStillWhole) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  std::ofstream(photos_ + "/a.jpg").flush();
  const RunResult ran = run_purge();
  EXPECT_EQ(ran.json["items"][0]["state"], "left") << ran.json.dump(1);
  EXPECT_THAT(ran.json["items"][0]["reason"].get<std::string>(), HasSubstr("another size"));
}

// A file with the name of an id in the current folder is not that journal.
TEST_F(ApplyFailures, AnIdIsLookedUpInTheDataFolderFirst) {
  pair();
  write_decisions();
  ApplyOptions o = options("delete");
  o.journal.clear();
  const std::string id = run(o).json["id"].text();
  const std::string here = std::filesystem::current_path();
  std::filesystem::current_path(top_);
  std::ofstream(id) << "{\"millrace_journal\": 1, \"id\": \"" << id << "\", \"action\": \"trash\"}\n";
  EXPECT_EQ(run_undo_of(id).code, 0);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/b.jpg"));
  std::filesystem::current_path(here);
}

// Folders and files that earlier versions left open to others are made private, not refused.
TEST_F(ApplyFailures, OwnFoldersThatAreTooOpenAreClosed) {
  pair();
  write_decisions();
  ApplyOptions o = options("delete");
  o.journal.clear();
  const std::string id = run(o).json["id"].text(), data = top_ + "/data/millrace";
  for (const char* name : {"", "/journals"}) ::chmod((data + name).c_str(), 0777);
  for (const std::string& name : {std::string("/catalog.sqlite"), "/journals/" + id + ".jsonl"})
    ::chmod((data + name).c_str(), 0666);
  EXPECT_EQ(run_undo_of(id).code, 0);
  EXPECT_EQ(run(options("delete", false)).code, 0);
  for (const char* name : {"", "/journals"}) EXPECT_EQ(state_of(data + name).or_throw().mode, 0700U) << name;
  for (const std::string& name : {std::string("/catalog.sqlite"), "/journals/" + id + ".jsonl"})
    EXPECT_EQ(state_of(data + name).or_throw().mode, 0600U) << name;
}

TEST_F(ApplyFailures, SomethingElseIsNoJournal) {
  std::ofstream(journal()) << "{\"groups\": []}\n";
  EXPECT_EQ(run_undo().code, 1);
  pair();
  EXPECT_EQ(run_apply("delete").code, 1);
}

}  // namespace
}  // namespace millrace::dedupe
