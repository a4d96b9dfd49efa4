#include "src/model/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <numeric>
#include <thread>

#include "src/model/model_for_test.h"
#include "src/model/runtime.h"

namespace millrace::model {
namespace {

using namespace for_test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class InFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("model_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& contents) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    write(path, contents);
    return path;
  }
  Error refused(const std::string& path) const {
    try {
      open_model(path);
    } catch (const Failure& failure) {
      return failure.error();
    }
    ADD_FAILURE() << "was taken";
    return {};
  }

  std::filesystem::path folder_;
};

std::string with_numbers_in(const std::string& location) {
  return model(bytes(1, node("Mul", "scale", {"x", "far"}, "y")) + bytes(5, external("far", 4, location)) +
               bytes(11, value_info("x", {4})) + bytes(12, value_info("y", {4})));
}

using ModelFileTest = InFolder;

TEST_F(ModelFileTest, DigestIsOfAllBytes) {
  const std::string path = put("m.onnx", with_numbers_in("data/far.bin"));
  put("data/far.bin", std::string(16, 'a'));
  const ModelFile before = open_model(path);
  EXPECT_EQ(before.bytes, with_numbers_in("data/far.bin").size() + 16);
  EXPECT_EQ(before.digest, open_model(path).digest);
  put("data/far.bin", std::string(16, 'b'));
  EXPECT_NE(before.digest, open_model(path).digest);
  EXPECT_NE(open_model(put("n.onnx", times(2))).digest, open_model(put("o.onnx", times(3))).digest);
}

TEST_F(ModelFileTest, NumbersOutsideItsFolderAreRefused) {
  put("secret.bin", std::string(16, 's'));
  std::filesystem::create_directories(folder_ / "models");
  std::filesystem::create_symlink(folder_ / "secret.bin", folder_ / "models/link.bin");
  std::filesystem::create_symlink(folder_, folder_ / "models/up");
  for (const std::string& location :
       {std::string("../secret.bin"), std::string("/etc/hostname"), std::string("link.bin"),
        std::string("up/secret.bin"), std::string("a/../../secret.bin"), std::string()}) {
    const Error error = refused(put("models/m.onnx", with_numbers_in(location)));
    EXPECT_EQ(error.code, ErrorCode::unsupported) << location;
    EXPECT_THAT(error.what, HasSubstr("outside the model's folder"));
  }
  EXPECT_EQ(refused(put("models/m.onnx", with_numbers_in("gone.bin"))).code, ErrorCode::not_found);
}

TEST_F(ModelFileTest, AnUnreadableModelIsReported) {
  EXPECT_EQ(refused(folder_ / "none.onnx").code, ErrorCode::not_found);
  EXPECT_EQ(refused(put("text.onnx", "not a model\n")).code, ErrorCode::bad_data);
}

TEST(PlainWords, PlacesInSourcesAreLeftOutAndNodesAreNamed) {
  OnnxFile onnx;
  onnx.operators = {{"com.example.Blur", "soft"}, {"Mul", "scale"}};
  const std::string words = clean_runtime_message(
      "Exception from src/core/src/runtime.cpp:154:\nCheck 'unsupported.empty()' failed at "
      "src/frontends/onnx/frontend/src/frontend.cpp:348:\nOpenVINO does not support the following ONNX operations: "
      "com.example.Blur\n",
      onnx);
  EXPECT_THAT(clean_runtime_message(
                  "FrontEnd API failed with OpConversionFailure: Model wasn't fully converted. Summary:\n-- No "
                  "conversion rule found for operations: com.example.Blur",
                  onnx),
              AllOf(HasSubstr("'soft'"), Not(HasSubstr("Summary")), Not(HasSubstr("API"))));
  EXPECT_EQ(words,
            "OpenVINO does not support the following ONNX operations: com.example.Blur; com.example.Blur is the node "
            "'soft'");
  EXPECT_EQ(clean_runtime_message("/a/b/c.hpp:3: \n", onnx), "the model cannot be run");
  EXPECT_LT(clean_runtime_message(std::string(1'000'000, 'x'), onnx).size(), 500U);
}

TEST(Runtime, AMissingRuntimeIsReportedWithARemedy) {
  const auto missing = open_backend("/nowhere/libmillrace-openvino.so");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::unavailable);
  EXPECT_THAT(missing.error().remedy, HasSubstr("./dev build"));
  const auto other = open_backend("/usr/lib/x86_64-linux-gnu/libz.so.1");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::unavailable);
}

class SessionTest : public InFolder {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    if (const auto found = runtime(); !found.ok()) GTEST_SKIP() << found.error().message();
  }
  Error refuses(const std::string& contents, std::vector<std::int64_t> input) const {
    const ModelFile file = open_model(put("m.onnx", contents));
    try {
      const Session session(file, {.input = std::move(input), .cache = {}});
    } catch (const Failure& failure) {
      return failure.error();
    }
    ADD_FAILURE() << "was taken";
    return {};
  }
};

// Counts the inputs that were submitted and are not done.
class Awaited {
 public:
  Session::Completion one() {
    ++left_;
    return [this](const Error* error) {
      const std::lock_guard lock(mutex_);
      if (error != nullptr) ADD_FAILURE() << error->message();
      if (--left_ == 0) none_.notify_one();
    };
  }
  void wait() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::atomic<int> left_{0};
};

TEST_F(SessionTest, GivesEachItsOwnResult) {
  const ModelFile file = open_model(put("m.onnx", times(3)));
  for (const int requests : {1, 2, 4}) {
    Session session(file, {.input = {1, 1, 2, 3}, .threads = 2, .requests = requests, .cache = {}});
    ASSERT_EQ(session.outputs().size(), 1U);
    EXPECT_EQ(session.outputs()[0].name, "y");
    EXPECT_THAT(session.outputs()[0].shape, ElementsAre(1, 1, 2, 3));
    EXPECT_EQ(session.precision(), "f32");
    EXPECT_THAT(session.runtime(), HasSubstr("OpenVINO"));
    // There are more inputs than requests.
    std::vector<std::vector<float>> inputs(50, std::vector<float>(6)), outputs(50, std::vector<float>(6));
    Awaited awaited;
    const Session::Completion first = awaited.one();
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      std::iota(inputs[k].begin(), inputs[k].end(), static_cast<float>(k));
      session.submit(inputs[k].data(), {outputs[k].data()}, awaited.one());
    }
    first(nullptr);
    awaited.wait();
    for (std::size_t k = 0; k < inputs.size(); ++k)
      for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(outputs[k][i], 3 * inputs[k][i]);
  }
}

TEST_F(SessionTest, WhatIsInterruptedEndsOnceAndTheNextIsRight) {
  const ModelFile file = open_model(put("m.onnx", times(3)));
  Session session(file, {.input = {1, 1, 2, 3}, .requests = 1, .cache = {}});
  const std::vector<float> input = {1, 2, 3, 4, 5, 6};
  std::vector<std::vector<float>> outputs(40, std::vector<float>(6));
  std::vector<std::atomic<int>> ended(outputs.size());
  std::atomic<int> interrupted{0}, left{static_cast<int>(outputs.size())};
  std::atomic<int> entered{0};
  std::atomic<bool> go{false};
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    session.submit(input.data(), {outputs[k].data()}, [&, k](const Error* error) {
      // The first one holds the backend's thread until all others have been interrupted.
      ++entered;
      while (!go) std::this_thread::yield();
      ++ended[k];
      if (error != nullptr) {
        EXPECT_EQ(error->code, ErrorCode::cancelled);
        ++interrupted;
      }
      --left;
    });
  }
  while (entered < 1) std::this_thread::yield();
  std::thread stop([&] { session.interrupt(); });
  while (entered < 2) std::this_thread::yield();
  go = true;
  stop.join();
  std::vector<float> refused(6);
  bool reported = false;
  session.submit(input.data(), {refused.data()}, [&](const Error* error) { reported = error != nullptr; });
  EXPECT_TRUE(reported) << "at once";
  while (left > 0) std::this_thread::yield();
  for (const auto& times : ended) EXPECT_EQ(times, 1);
  // The inputs that waited are interrupted. The first one was done, and the second one was with the backend.
  EXPECT_GE(interrupted, 38);
  EXPECT_LE(interrupted, 39);
  session.go_on();
  std::vector<float> output(6);
  Session::wait_for([&](Session::Completion done) { session.submit(input.data(), {output.data()}, std::move(done)); });
  EXPECT_THAT(output, ElementsAre(3, 6, 9, 12, 15, 18));
}

TEST_F(SessionTest, MissingOperatorIsNamedWithItsNode) {
  const Error error =
      refuses(model(bytes(1, node("Blur", "soft", {"x"}, "y", bytes(7, "com.example"))) +
                    bytes(11, value_info("x", {1, 1, 0, 0})) + bytes(12, value_info("y", {1, 1, 0, 0}))),
              {1, 1, 4, 4});
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_THAT(error.what, AllOf(HasSubstr("Blur"), HasSubstr("soft"), Not(HasSubstr(".cpp")), Not(HasSubstr("src/"))));
}

TEST_F(SessionTest, InputThatDoesNotFitIsRefused) {
  const std::string three =
      model(bytes(1, node("Conv", "first", {"x", "w"}, "y")) + bytes(5, floats("w", {1, 3, 1, 1}, {1, 1, 1})) +
            bytes(11, value_info("x", {1, 3, 0, 0})) + bytes(12, value_info("y", {1, 1, 0, 0})));
  const Error error = refuses(three, {1, 1, 8, 8});
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  // The runtime names nodes by their outputs.
  EXPECT_THAT(error.what, AllOf(HasSubstr("'y'"), HasSubstr("channel"), Not(HasSubstr(".cpp"))));
}

TEST_F(SessionTest, BrokenModelIsNoCrash) {
  const std::string whole = times(2);
  int taken = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 0x15);
    put("m.onnx", broken);
    try {
      const ModelFile file = open_model(folder_ / "m.onnx");
      Session session(file, {.input = {1, 1, 4, 4}, .cache = {}});
      session.measure();
      ++taken;
    } catch (const Failure& failure) {
      EXPECT_FALSE(failure.error().what.empty());
    }
  }
  EXPECT_GT(taken, 0);  // a changed name leaves a valid model
}

}  // namespace
}  // namespace millrace::model
