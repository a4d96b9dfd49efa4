#include "src/pipeline/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "src/base/full_disk_for_test.h"
#include "src/io/file/atomic_file.h"
#include "src/io/store/dataset_for_test.h"
#include "src/io/store/shard_log.h"
#include "src/pipeline/checkpoint/finish.h"
#include "src/pipeline/checkpoint/run_presence.h"
#include "src/pipeline/checkpoint/shard_record.h"

namespace millrace {
namespace {

using namespace for_test;

constexpr std::uint64_t kRows = 23, kEach = 4;

// Returns the specification of a job with numbers, and without anything that a chart has.
CheckpointSpec spec_of(const std::string& output, StoreKind store, ShardSpec share = {}) {
  CheckpointSpec out;
  out.output = output;
  out.store = store;
  out.each = kEach;
  out.mark = "counting";
  out.share = share;
  out.dataset = arrays_of(kRows);
  out.dataset.unit = "numbers";
  out.dataset.attributes = {{"counting", "1"}, {"inputs", R"([{"path":"a","bytes":3}])"}};
  if (store == StoreKind::folder) {
    out.dataset.arrays = {{.name = "numbers", .type = kUint32, .extension = "npy"},
                          {.name = "names", .rows = Rows::texts, .extension = "csv", .header = "name"}};
  }
  return out;
}

RowBlock block_of(const CheckpointSpec& spec, std::uint64_t begin, std::uint64_t end) {
  if (spec.store != StoreKind::folder) {
    return rows_of(spec.dataset, begin, end, spec.store == StoreKind::zarr ? kGzip : kZlib);
  }
  RowBlock out;
  out.clear(2);
  for (; begin < end; ++begin, ++out.rows) {
    out.arrays[0].append(static_cast<std::uint32_t>(begin));
    out.arrays[1].append_text(name_of_row(begin) + "\n");
  }
  return out;
}

// Makes the missing shards, or `most` of them. Returns true if the output has its name then.
bool make(const CheckpointSpec& spec, std::uint64_t* made = nullptr, std::uint64_t most = ~std::uint64_t{0}) {
  Checkpoint checkpoint(spec);
  std::uint64_t count = 0;
  while (const auto task = checkpoint.next()) {
    const std::uint64_t k = task->part;
    if (task->taken) {
      checkpoint.take(k);
      continue;
    }
    if (count == most) return false;
    const std::uint64_t begin = checkpoint.parts().begin(k), end = checkpoint.parts().end(k);
    for (std::uint64_t row = begin; row < end; row += 3) {
      checkpoint.append(k, block_of(spec, row, std::min(end, row + 3)));
    }
    checkpoint.end(k);
    ++count;
    if (made != nullptr) *made = count;
  }
  return checkpoint.publish([] {});
}

std::string bytes_of(const std::string& output) {
  if (!std::filesystem::is_directory(output)) return text_in(output);
  std::string out;
  for (const auto& [name, text] : files_in(output)) out.append(name).append("\n").append(text);
  return out;
}

class CheckpointTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  TemporaryFolder folder_{"checkpoint"};
  std::string whole() {
    EXPECT_TRUE(make(spec_of(folder_ / "whole", GetParam())));
    return bytes_of(folder_ / "whole");
  }
  // Returns true if the shards beside the output are kept.
  bool keeps_parts() const { return GetParam() == StoreKind::hdf5_virtual; }
};

TEST_P(CheckpointTest, ARunThatWasCutOffIsGoneOnWith) {
  const std::string expected = whole();
  for (std::uint64_t most = 0; most < 6; ++most) {
    const CheckpointSpec spec = spec_of(folder_ / ("cut" + std::to_string(most)), GetParam());
    EXPECT_FALSE(make(spec, nullptr, most));
    EXPECT_FALSE(std::filesystem::exists(spec.output));
    std::uint64_t made = 0;
    EXPECT_TRUE(make(spec, &made));
    EXPECT_LE(made, 6 - most) << "what was there is not made again";
    if (!keeps_parts()) {
      EXPECT_EQ(bytes_of(spec.output), expected);
    }
    EXPECT_TRUE(Checkpoint(spec).finished());
  }
}

TEST_P(CheckpointTest, SharesInAnyOrderAreTheSameOutput) {
  const std::string expected = whole();
  for (const auto& order : std::vector<std::vector<std::uint64_t>>{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    const std::string output = folder_ / ("shared" + std::to_string(order[0]));
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::uint64_t made = 0;
      EXPECT_EQ(make(spec_of(output, GetParam(), {order[i], 3}), &made), i == 2) << "the last one merges the shards";
      EXPECT_EQ(made, 2);
    }
    if (!keeps_parts()) {
      EXPECT_EQ(bytes_of(output), expected);
      EXPECT_FALSE(std::filesystem::exists(output + ".shards"));
    }
    EXPECT_TRUE(Checkpoint(spec_of(output, GetParam())).finished());
  }
}

TEST_P(CheckpointTest, APartIsMadeByOneOfTwoRuns) {
  const std::string expected = whole();
  const CheckpointSpec spec = spec_of(folder_ / "two", GetParam(), {0, 1});
  Checkpoint one(spec), other(spec);
  std::vector<std::uint64_t> made;
  for (Checkpoint* run : {&one, &other, &other, &one, &one, &other, &one}) {
    const auto task = run->next();
    if (!task) continue;
    made.push_back(task->part);
    run->append(task->part, block_of(spec, run->parts().begin(task->part), run->parts().end(task->part)));
    run->end(task->part);
    run->wait();
  }
  EXPECT_EQ(made, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(one.publish([] {})) << "the other is still there";
  EXPECT_TRUE(other.publish([] {}));
  if (!keeps_parts()) {
    EXPECT_EQ(bytes_of(spec.output), expected);
  }
}

TEST_P(CheckpointTest, ARunAloneAndOneThatSharesKeepEachOtherOut) {
  const CheckpointSpec alone = spec_of(folder_ / "a", GetParam()), shared = spec_of(folder_ / "a", GetParam(), {0, 2});
  {
    const Checkpoint run(alone);
    EXPECT_THROW(Checkpoint{shared}, Failure);
    EXPECT_THROW(Checkpoint{alone}, Failure);
  }
  {
    const Checkpoint run(shared), another(spec_of(folder_ / "a", GetParam(), {1, 2}));
    EXPECT_THROW(Checkpoint{alone}, Failure);
  }
  EXPECT_TRUE(make(alone));
}

TEST_P(CheckpointTest, RunsOfAnotherNumberOrVersionAreRefused) {
  const std::string output = folder_ / "shared", runs = output + ".shards/runs.json";
  EXPECT_FALSE(make(spec_of(output, GetParam(), {0, 3})));
  const std::string ours = text_in(runs);
  const auto expect_refused = [&](const ShardSpec& share, const char* words) {
    try {
      make(spec_of(output, GetParam(), share));
      FAIL() << words;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::conflict);
      EXPECT_NE(failure.error().what.find(words), std::string::npos) << failure.error().what;
    }
  };
  expect_refused({1, 4}, "shared by 3 runs, and this is one of 4");
  write_file(runs, R"({"of": 3, "version": "0.0.1"})");
  expect_refused({1, 3}, "made by Millrace 0.0.1");
  write_file(runs, ours);
  EXPECT_FALSE(make(spec_of(output, GetParam(), {1, 3})));
  EXPECT_TRUE(make(spec_of(output, GetParam(), {2, 3})));
}

TEST_P(CheckpointTest, WhatIsMissingIsNamed) {
  const std::string output = folder_ / "late";
  EXPECT_FALSE(make(spec_of(output, GetParam(), {1, 3})));
  EXPECT_FALSE(make(spec_of(output, GetParam(), {0, 3}), nullptr, 1)) << "it was killed";
  EXPECT_FALSE(make(spec_of(output, GetParam(), {2, 3})));
  try {
    finish(output, {}, [] {});
    FAIL() << "part 3 was never made";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().what.find("1 of 6 shards are missing: 3 "), std::string::npos) << failure.error().what;
  }
  EXPECT_FALSE(std::filesystem::exists(output));
  std::uint64_t made = 0;
  EXPECT_TRUE(make(spec_of(output, GetParam(), {0, 3}), &made));
  EXPECT_EQ(made, 1);
}

TEST_P(CheckpointTest, FoldersOfOtherDisksAreBroughtTogether) {
  const std::string expected = whole();
  for (const char* disk : {"one", "two", "three"}) std::filesystem::create_directory(folder_ / disk);
  EXPECT_FALSE(make(spec_of(folder_ / "one/a", GetParam(), {0, 3})));
  EXPECT_FALSE(make(spec_of(folder_ / "two/a", GetParam(), {1, 3})));
  EXPECT_FALSE(make(spec_of(folder_ / "three/a", GetParam(), {2, 3})));
  const std::string two = folder_ / "two/a.shards", three = folder_ / "three/a.shards";
  EXPECT_THROW(finish(folder_ / "one/a", {two}, [] {}), Failure);
  const FinishResult done = finish(folder_ / "one/a", {two, three}, [] {});
  EXPECT_EQ(done.rows, kRows);
  EXPECT_EQ(done.parts, 6);
  if (!keeps_parts()) {
    EXPECT_EQ(bytes_of(folder_ / "one/a"), expected);
  }
  EXPECT_TRUE(Checkpoint(spec_of(folder_ / "one/a", GetParam())).finished());
}

TEST_P(CheckpointTest, OthersPartsAreNotTaken) {
  for (const char* disk : {"one", "two"}) std::filesystem::create_directory(folder_ / disk);
  CheckpointSpec other = spec_of(folder_ / "two/a", GetParam(), {1, 2});
  other.dataset.attributes.front().second = "2";
  EXPECT_FALSE(make(other));
  EXPECT_FALSE(make(spec_of(folder_ / "one/a", GetParam(), {0, 2})));
  const std::string two = folder_ / "two/a.shards";
  try {
    finish(folder_ / "one/a", {two}, [] {});
    FAIL() << "parts of something else were taken";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.error().what.find("--counting was '2', is '1'"), std::string::npos) << failure.error().what;
  }
  CheckpointSpec renamed = spec_of(folder_ / "one/a", GetParam(), {1, 2});
  renamed.dataset.attributes.back().second = R"([{"path":"elsewhere/a","bytes":3}])";
  EXPECT_TRUE(make(renamed)) << "an input is what it holds, not its name";
}

TEST_P(CheckpointTest, APartIsTheRunsThatHoldsIt) {
  const CheckpointSpec spec = spec_of(folder_ / "held", GetParam(), {0, 1});
  Checkpoint one(spec);
  ASSERT_EQ(one.next()->part, 0);
  Checkpoint other(spec);
  EXPECT_EQ(other.next()->part, 1) << "0 is being made";
}

TEST(ShardRows, ADamagedOneIsMadeAgainByTheRunWhoseItIs) {
  const TemporaryFolder folder("part_rows");
  const std::string expected = folder / "whole";
  EXPECT_TRUE(make(spec_of(expected, StoreKind::hdf5)));
  const std::string output = folder / "a", rows = output + ".shards/3.rows";
  EXPECT_FALSE(make(spec_of(output, StoreKind::hdf5, {1, 2})));
  const std::string text = text_in(rows);
  std::ofstream(rows, std::ios::binary) << text.substr(0, text.size() / 2);
  std::uint64_t made = 0;
  EXPECT_FALSE(make(spec_of(output, StoreKind::hdf5, {1, 2}), &made));
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(make(spec_of(output, StoreKind::hdf5, {0, 2})));
  EXPECT_EQ(text_in(output), text_in(expected));
}

TEST(ShardRows, RowsThatAreNoneOfTheDatasetsAreRefused) {
  const TemporaryFolder folder("part_rows_forged");
  const std::string output = folder / "a", rows = output + ".shards/0.rows";
  EXPECT_FALSE(make(spec_of(output, StoreKind::hdf5, {0, 2})));
  EXPECT_FALSE(make(spec_of(output, StoreKind::hdf5, {1, 2}), nullptr, 0));
  // The log is complete and has the right owner, but its rows are shorter than it states.
  DatasetSpec thin = arrays_of(kRows);
  for (ArraySpec& array : thin.arrays) array.shape.clear();
  RowBlock block;
  block.clear(thin.arrays.size());
  block.rows = kEach;
  for (std::size_t i : {0U, 5U}) block.arrays[i].lengths.assign(kEach, 0);
  {
    ShardLog log(rows, "0 to 4", thin, ShardLog::Chunks::whole);
    log.append(block);
    log.finish();
    log.commit();
  }
  // A record that matches is needed too: without it the shard would be made again.
  const ShardBytes bytes = {{rows}};
  std::ofstream(output + ".shards/0.made.json")
      << json_of(ShardRecord{0, kEach, digests_of(bytes, [] {}), "1/2", 0, ""});
  EXPECT_THROW(make(spec_of(output, StoreKind::hdf5)), Failure);
  EXPECT_FALSE(std::filesystem::exists(output));
}

// Shards beside a virtual file are kept. So are files of runs that are at work on them, but not those of killed runs.
TEST(Checkpoints, BesideAFinishedOutputNothingOfKilledRunsStays) {
  const TemporaryFolder folder{"killed"};
  const CheckpointSpec spec = spec_of(folder / "out.h5", StoreKind::hdf5_virtual);
  ASSERT_TRUE(make(spec));
  const std::string shards = spec.output + ".shards";
  const auto before = files_in(shards);
  const Descriptor open(::open(shards.c_str(), O_RDONLY | O_DIRECTORY));
  const auto at_work = [&] {
    return std::make_unique<RunPresence>(open.get(), RunPresence::Mode::last, RunPresence::Timing{});
  };
  const pid_t child = ::fork();
  if (child == 0) {
    const auto killed = at_work();
    killed->claim("whole");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  std::ofstream(shards + "/" + std::string(AtomicFile::kTemporaryPrefix) + "7") << "half of a shard";
  const auto left = files_in(shards);
  EXPECT_EQ(left.size(), before.size() + 3);
  {
    const FullDisk full(0);
    EXPECT_TRUE(Checkpoint(spec).finished()) << "there is no room to say who tidies";
  }
  EXPECT_EQ(files_in(shards), left);
  EXPECT_TRUE(Checkpoint(spec).finished());
  EXPECT_EQ(files_in(shards), before);

  const auto alive = at_work();
  EXPECT_TRUE(Checkpoint(spec).finished());
  EXPECT_EQ(files_in(shards).size(), before.size() + 1) << "it says still that it is at work";
}

// A virtual file whose shard is gone is made again. It replaces the file that was examined, and no other.
TEST(Checkpoints, WhatAPersonPutsUnderTheNameMeanwhileStays) {
  const TemporaryFolder folder{"virtual"};
  const CheckpointSpec spec = spec_of(folder / "out.h5", StoreKind::hdf5_virtual);
  ASSERT_TRUE(make(spec));
  for (const bool exchanged : {false, true}) {
    std::filesystem::remove(spec.output + ".shards/1.h5");
    Checkpoint again(spec);
    ASSERT_FALSE(again.finished());
    while (const auto task = again.next()) {
      if (task->taken) {
        again.take(task->part);
        continue;
      }
      again.append(task->part, block_of(spec, again.parts().begin(task->part), again.parts().end(task->part)));
      again.end(task->part);
    }
    if (!exchanged) {
      EXPECT_TRUE(again.publish([] {}));
      EXPECT_FALSE(std::filesystem::exists(spec.output + ".shards/whole.h5")) << "what was replaced goes";
      continue;
    }
    std::ofstream(folder / "mine") << "a person's own";
    std::filesystem::rename(folder / "mine", spec.output);
    EXPECT_THROW(again.publish([] {}), Failure);
    EXPECT_EQ(text_in(spec.output), "a person's own");
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, CheckpointTest,
                         ::testing::Values(StoreKind::hdf5, StoreKind::hdf5_virtual, StoreKind::zarr,
                                           StoreKind::folder),
                         [](const auto& info) { return std::string(choice_name(info.param)); });

TEST(ShardsFile, IsReadBackAndNotBelieved) {
  const TemporaryFolder folder("parts_file");
  const std::string path = folder / "parts.json";
  ShardsFile file{"hdf5", "counting", {kRows, kEach}, arrays_of(kRows)};
  std::ofstream(path) << json_of(file);
  const ShardsFile read = read_shards_file(path).or_throw();
  EXPECT_EQ(json_of(read), json_of(file));
  const std::string text = json_of(file);
  std::ofstream(path) << std::string(text).replace(text.find("\"images\""), 8, "\"patch.4.images\"");
  EXPECT_EQ(read_shards_file(path).or_throw().spec.arrays[0].name, "patch.4.images");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    const std::size_t at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return out.replace(at, from.size(), to);
  };
  for (const std::string& bad : {std::string(),
                                 std::string("[]"),
                                 with("\"images\"", "\"../images\""),
                                 with("\"images\"", "\"/images\""),
                                 with("\"images\"", "\"a/b/c\""),
                                 with("\"images\"", "\"a/../b\""),
                                 with("\"images\"", "\"..\""),
                                 with("\"images\"", "\".images\""),
                                 with("\"images\"", "\"a..b\""),
                                 with("\"images\"", "\"a./b\""),
                                 with("\"images\"", "\"images.\""),
                                 with("\"uint8\"", "\"uint9\""),
                                 with("\"compressed\"", "\"packed\""),
                                 with("\"rows\": 23", "\"rows\": 0"),
                                 with("\"rows\": 23", "\"rows\": 18446744073709551615"),
                                 with("\"each\": 4", "\"each\": 0"),
                                 with("\"each\": 4", "\"each\": -4"),
                                 with("\"shape\": [", "\"shape\": [0,"),
                                 with("\"shape\": [", "\"shape\": [1099511627776, 1099511627776,"),
                                 with("\"shape\": [", "\"shape\": [\"a\",")}) {
    std::ofstream(path) << bad;
    EXPECT_FALSE(read_shards_file(path)) << bad.substr(0, 200);
  }
}

TEST(ShardSpec, IsReadAsPeopleSayIt) {
  EXPECT_FALSE(parse_shard_spec("all"));
  EXPECT_EQ(parse_shard_spec("1/1").of, 1);
  EXPECT_EQ(parse_shard_spec("3/8").index, 2);
  for (const char* bad : {"", "0/4", "5/4", "1", "/", "1/", "/4", "1/0", "-1/4", "1/4x", "a/b", " 1/4", "1/9999999999",
                          "1.0/4", "slurm", "slurm/", "slurm/0", "slurm/x", "Slurm/4"}) {
    EXPECT_THROW(parse_shard_spec(bad), Failure) << bad;
  }
}

TEST(ShardSpec, TakesItsNumberFromAnArrayJob) {
  ::setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  EXPECT_EQ(parse_shard_spec("slurm/8").index, 2);
  EXPECT_EQ(parse_shard_spec("slurm/8").of, 8);
  EXPECT_EQ(parse_shard_spec("1/8").index, 0) << "what was said counts";
  for (const char* bad : {"0", "9", "", "x", "3 ", "-1"}) {
    ::setenv("SLURM_ARRAY_TASK_ID", bad, 1);
    EXPECT_THROW(parse_shard_spec("slurm/8"), Failure) << bad;
  }
  ::unsetenv("SLURM_ARRAY_TASK_ID");
  EXPECT_THROW(parse_shard_spec("slurm/8"), Failure);
}

TEST(ShardSpec, NamesTheRunsOfAnArray) {
  const std::vector<std::uint64_t> parts = {0, 8, 3, 4, 5, 7, 11};
  EXPECT_EQ(format_slurm_array(parts, 8), "1,4-6,8");
  EXPECT_EQ(format_slurm_array(parts, 1), "1");
  EXPECT_EQ(format_slurm_array({}, 8), "");
}

}  // namespace
}  // namespace millrace
