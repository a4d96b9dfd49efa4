#include "src/jobs/join/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "src/io/tensor/npy.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::join {
namespace {

class JoinRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "join_" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    std::mt19937_64 random(2);
    for (int i = 0; i < 500; ++i) codes_.push_back(random());
    for (int i = 0; i < 100; ++i) {
      auto few = random();
      for (int k = 0; k < 4; ++k) few &= random();
      codes_[random() % 500] = codes_[random() % 500] ^ few;
    }
    for (int i = 0; i < 40; ++i) codes_[random() % 500] = codes_[0];
    options_.codes = path("codes.npy");
    options_.output = path("pairs.npy");
    options_.radius = 5;
    write(options_.codes, {{"", kUint64}}, {codes_.size()}, std::as_bytes(std::span(codes_)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  static void write(const std::string& path, const std::vector<npy::Field>& fields, std::vector<std::uint64_t> shape,
                    std::span<const std::byte> bytes) {
    npy::NpyWriter writer(OutputTarget::overwrite_any_file(path), fields, std::move(shape));
    writer.append(bytes);
    writer.finish();
  }

  npy::Array read(const std::string& path) {
    return npy::Array::read(path, budget_, [] { return false; });
  }
  std::vector<hamming::HammingPair> read_pairs(const std::string& path) {
    const npy::Array file = read(path);
    EXPECT_EQ(file.header().words(),
              "(i uint32, j uint32, distance uint8) [" + std::to_string(file.data().size() / 9) + "]");
    std::vector<hamming::HammingPair> pairs;
    for (std::size_t at = 0; at < file.data().size(); at += 9) {
      hamming::HammingPair pair{0, 0, std::to_integer<std::uint32_t>(file.data()[at + 8])};
      std::memcpy(&pair.i, &file.data()[at], 4);
      std::memcpy(&pair.j, &file.data()[at + 4], 4);
      pairs.push_back(pair);
    }
    return pairs;
  }

  JoinSummary join() {
    JoinOutputs files;
    if (!options_.output.empty()) {
      files.pairs = OutputTarget::overwrite_any_file(options_.output);
      files.nodes = OutputTarget::overwrite_any_file(nodes_path(options_.output));
    }
    Trace trace;
    const CancelToken never;
    RunContext context{executor_, never, trace, budget_};
    return run(options_, files, context);
  }

  std::string folder_;
  std::vector<std::uint64_t> codes_;
  Options options_;
  Executor executor_{2};
  Budget budget_{1_GiB};
};

TEST_F(JoinRun, WritesEveryPairOfRows) {
  const std::vector<hamming::HammingPair> truth =
      hamming::reference::row_pairs(std::span<const std::uint64_t>(codes_), 5);
  for (const auto& [algorithm, value] : choices_of(hamming::Algorithm{})) {
    options_.algorithm = value;
    const JoinSummary result = join();
    EXPECT_EQ(result.pairs, truth.size());
    EXPECT_EQ(result.rows, 500u);
    EXPECT_EQ(result.bits, 64);
    EXPECT_EQ(result.pairs_file, options_.output);
    EXPECT_FALSE(result.why.empty());
    EXPECT_EQ(read_pairs(options_.output), truth);
  }
}

TEST_F(JoinRun, CollapsedGivesNodesFromWhichRowsFollow) {
  options_.collapsed = true;
  const JoinSummary result = join();
  EXPECT_EQ(result.nodes_file, path("pairs.nodes.npy"));
  const npy::Array file = read(result.nodes_file);
  EXPECT_EQ(file.header().words(), "uint32 [500]");
  std::vector<std::uint32_t> nodes(500);
  std::memcpy(nodes.data(), file.data().data(), 2000);
  const std::vector<hamming::HammingPair> pairs = read_pairs(options_.output);
  EXPECT_EQ(pairs.size(), result.collapsed_pairs);
  std::vector<hamming::HammingPair> rows;
  for (std::uint32_t i = 0; i < 500; ++i) {
    for (std::uint32_t j = i + 1; j < 500; ++j) {
      const std::uint32_t a = std::min(nodes[i], nodes[j]), b = std::max(nodes[i], nodes[j]);
      if (a == b) rows.push_back({i, j, 0});
      for (const hamming::HammingPair& pair : pairs) {
        if (pair.i == a && pair.j == b) rows.push_back({i, j, pair.distance});
      }
    }
  }
  EXPECT_EQ(rows, hamming::reference::row_pairs(std::span<const std::uint64_t>(codes_), 5));
  EXPECT_EQ(result.pairs, rows.size());
}

TEST_F(JoinRun, ReadsRowsOfBytes) {
  const auto bytes = std::as_bytes(std::span(codes_));
  join();
  const std::vector<hamming::HammingPair> truth = read_pairs(options_.output);
  write(options_.codes, {{"", kUint8}}, {500, 8}, bytes);
  join();
  EXPECT_EQ(read_pairs(options_.output), truth);
  write(options_.codes, {{"", kUint8}}, {125, 32}, bytes);
  options_.radius = 100;
  EXPECT_EQ(join().bits, 256);
  std::vector<hamming::Code256> wide(125);
  std::memcpy(wide.data(), bytes.data(), 4000);
  EXPECT_EQ(read_pairs(options_.output), hamming::reference::row_pairs(std::span<const hamming::Code256>(wide), 100));
}

TEST_F(JoinRun, ReadsUnalignedFiles) {
  std::string header = "{'descr': '<u8', 'fortran_order': False, 'shape': (500,)}";
  std::string file("\x93NUMPY\x01\x00", 8);
  while ((10 + header.size()) % 8 != 3) header += ' ';
  file += static_cast<char>(header.size());
  file += '\0';
  file += header;
  file.append(reinterpret_cast<const char*>(codes_.data()), 4000);
  const std::uint64_t pairs = join().pairs;
  std::ofstream(options_.codes, std::ios::binary) << file;
  EXPECT_EQ(join().pairs, pairs);
}

TEST_F(JoinRun, CountsWithoutOutputAndTakesNoRows) {
  options_.output.clear();
  EXPECT_GT(join().pairs, 0u);
  options_.output = path("pairs.npy");
  write(options_.codes, {{"", kUint64}}, {0}, {});
  EXPECT_EQ(join().pairs, 0u);
  EXPECT_TRUE(read_pairs(options_.output).empty());
}

TEST_F(JoinRun, RefusesWhatItCannotUse) {
  const auto code = [&] {
    try {
      join();
    } catch (const Failure& failure) {
      return failure.error().code;
    }
    return ErrorCode::internal;
  };
  options_.radius = -1;
  EXPECT_EQ(code(), ErrorCode::usage);
  options_.radius = 256;
  EXPECT_EQ(code(), ErrorCode::usage);
  options_.radius = 5;
  write(options_.codes, {{"", kInt64}}, {500}, std::as_bytes(std::span(codes_)));
  EXPECT_EQ(code(), ErrorCode::unsupported);
  options_.codes = path("none.npy");
  EXPECT_EQ(code(), ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(options_.output));
}

TEST_F(JoinRun, IsDescribed) {
  Settings settings;
  Options options;
  describe(settings, options);
  settings.apply_flag("radius", {"7"});
  settings.apply_flag("algorithm", {"index"});
  EXPECT_EQ(options.radius, 7);
  EXPECT_EQ(options.algorithm, hamming::Algorithm::index);
  EXPECT_THROW(settings.apply_flag("radius", {"256"}), Failure);
}

}  // namespace
}  // namespace millrace::join
