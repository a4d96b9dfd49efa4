#include "src/io/tensor/pickle.h"

#include <gmock/gmock.h>

#include <chrono>

#include "src/io/tensor/tensor_files_for_test.h"
#include "src/io/tensor/torch_names.h"
#include "src/io/tensor/torch_tensors.h"

namespace millrace::pickle {
namespace {

using for_test::name;
using for_test::pickle_of;
using for_test::TensorPickle;
using for_test::text;
using for_test::tuple;
using for_test::u16;
using for_test::u32;
using for_test::u64;
using testing::HasSubstr;

// A character of an opcode above the letters.
std::string code(unsigned char value) { return std::string(1, static_cast<char>(value)); }

std::optional<Document> loaded(const std::string& bytes) {
  return load(std::as_bytes(std::span(bytes)), torch_file::vocabulary());
}

// Returns why a pickle is refused; empty if it is accepted, "cut" if it lacks its end.
std::string refused(const std::string& bytes) {
  try {
    const auto document = loaded(bytes);
    if (!document) return "cut";
    torch_file::tensors_of(*document);
    return "";
  } catch (const ParseError& parse_error) {
    return parse_error.what;
  }
}

TEST(Pickle, ValuesOfEveryProtocolAreWhatTheySay) {
  const std::string list = "(I7\nI01\nI-3\nL5L\nF1.5\nS'a'\nVb\nNl.";
  const auto old = loaded(list);
  const auto items = old->items((*old)[old->root()]);
  ASSERT_EQ(items.size(), 8U);
  EXPECT_EQ((*old)[items[0]].integer, 7);
  EXPECT_EQ((*old)[items[1]].kind, ValueKind::boolean);
  EXPECT_EQ((*old)[items[2]].integer, -3);
  EXPECT_EQ((*old)[items[3]].integer, 5);
  EXPECT_EQ((*old)[items[4]].real, 1.5);
  EXPECT_EQ(old->text((*old)[items[5]]), "a");
  EXPECT_EQ(old->text((*old)[items[6]]), "b");
  EXPECT_EQ((*old)[items[7]].kind, ValueKind::none);
  EXPECT_EQ(old->size(), list.size());

  const std::string bytes = code(0x80) + code(4) + code(0x95) + u64(99) + "(K" + code(200) + "M" + u16(60000) + "J" +
                            u32(0xFFFFFFFF) + code(0x8A) + code(2) + "\x01\xFF" + "G" +
                            u64(__builtin_bswap64(0x3FF8000000000000)) + code(0x8C) + code(2) + "ab" + code(0x94) +
                            "h" + code(0) + code(0x88) + "l.after";
  const auto fresh = loaded(bytes);
  ASSERT_TRUE(fresh);
  const auto values = fresh->items((*fresh)[fresh->root()]);
  ASSERT_EQ(values.size(), 8U);
  EXPECT_EQ((*fresh)[values[0]].integer, 200);
  EXPECT_EQ((*fresh)[values[1]].integer, 60000);
  EXPECT_EQ((*fresh)[values[2]].integer, -1);
  EXPECT_EQ((*fresh)[values[3]].integer, -255);
  EXPECT_EQ((*fresh)[values[4]].real, 1.5);
  EXPECT_EQ(values[5], values[6]);
  EXPECT_EQ(fresh->text((*fresh)[values[6]]), "ab");
  EXPECT_EQ(fresh->size(), bytes.size() - 5);
}

// No code runs, and the message names what was asked for, in whatever way.
TEST(Pickle, WhatItWantsToCallIsRefusedByName) {
  const std::string arguments = tuple({text("touch /tmp/x")});
  const struct {
    std::string bytes, named;
  } tries[] = {
      {pickle_of(name("os", "system") + arguments + "R"), "os.system"},
      {pickle_of(name("posix", "system") + arguments + "R"), "posix.system"},
      {pickle_of(name("builtins", "eval") + arguments + "R"), "builtins.eval"},
      {pickle_of(name("__builtin__", "eval") + arguments + "R"), "__builtin__.eval"},
      {pickle_of(name("torch", "load") + arguments + "R"), "torch.load"},
      {pickle_of(name("torch._utils", "os.system") + arguments + "R"), "torch._utils.os.system"},
      {pickle_of(text("os") + text("system") + code(0x93) + arguments + "R"), "os.system"},
      {pickle_of("(" + text("touch x") + "ios\nsystem\n"), "os.system"},
      {pickle_of("(" + name("os", "system") + text("touch x") + "o"), "os.system"},
      {pickle_of(name("os", "system") + arguments + code(0x81)), "os.system"},
      {pickle_of(name("os", "system") + arguments + "}" + code(0x92)), "os.system"},
      {pickle_of(name("os", "system") + "}b"), "os.system"},
      {pickle_of("}" + name("os", "system") + arguments + "Rb"), "os.system"},
      {pickle_of("(" + name("collections", "OrderedDict") + text("x") + "o"), "collections.OrderedDict"},
      {pickle_of(name("torch", "FloatStorage") + arguments + code(0x81)), "torch.FloatStorage"},
      {pickle_of(name("torch", "HalfStorage") + arguments + "R"), "torch.HalfStorage"},
      {pickle_of(name("torch._utils", "_rebuild_qtensor") + arguments + "R"), "_rebuild_qtensor"},
      {pickle_of(name("torch._utils", "_rebuild_sparse_tensor") + arguments + "R"), "_rebuild_sparse_tensor"},
      {pickle_of(name("torch._utils", "_rebuild_meta_tensor_no_storage") + arguments + "R"), "_rebuild_meta_tensor"},
      {pickle_of(name("torch", "ComplexFloatStorage")), "torch.ComplexFloatStorage"},
      {pickle_of(name("numpy.core.multiarray", "_reconstruct")), "numpy.core.multiarray._reconstruct"},
      {pickle_of(name("a\x1b[2J", "b")), "a\\x1b[2J.b"},
  };
  for (const auto& [bytes, named] : tries) EXPECT_THAT(refused(bytes), HasSubstr(named)) << named;
  EXPECT_THAT(refused(pickle_of(name("torch._utils", "_rebuild_tensor_v2") + arguments + "R}b")), HasSubstr("state"));
  EXPECT_THAT(refused(pickle_of(text("os.system") + arguments + "R")), HasSubstr("not a function"));
  EXPECT_THAT(refused(pickle_of(name("torch", "Size") + "NR")), HasSubstr("without arguments"));
  EXPECT_THAT(refused(pickle_of(name("collections", "OrderedDict") + arguments + "R")), HasSubstr("with arguments"));
  EXPECT_THAT(refused("Pid\n."), HasSubstr("outside"));
  for (const int each : {0x82, 0x83, 0x84, 0x8F, 0x90, 0x91, 0x96, 0x97, 0x98, 0x99, 0x00, 0xFF}) {
    EXPECT_FALSE(refused(pickle_of(code(static_cast<unsigned char>(each)))).empty()) << each;
  }
  try {
    (void)loaded(pickle_of(name("os", "system")));
    FAIL();
  } catch (const ParseError& parse_error) {
    EXPECT_EQ(parse_error.about("x.pt").message().substr(0, 72),
              "x.pt: its pickle wants to call os.system; only plain tensors are read; s");
  }
}

TEST(Pickle, LengthsThatItDoesNotHaveTakeNoMemory) {
  for (const std::string& bytes :
       {code(0x8B) + u32(0x7FFFFFFF) + "x", code(0x8D) + u64(1ULL << 62) + "x", code(0x8E) + u64(~0ULL), "X" + u32(~0U),
        "T" + u32(~0U), "B" + u32(~0U), code(0x8A) + code(255) + "1", std::string("cos"), std::string("I12")}) {
    EXPECT_EQ(refused(bytes), "cut");
    EXPECT_EQ(refused(pickle_of("") + bytes), "its pickle takes from an empty stack");
  }
  EXPECT_THAT(refused(code(0x8B) + u32(0xFFFFFFFF)), HasSubstr("negative length"));
  EXPECT_THAT(refused(code(0x95) + u64(~0ULL) + "N."), HasSubstr("16 MiB"));
  EXPECT_EQ(refused(code(0x95) + u64(3) + "(NNNt."), "");
  EXPECT_THAT(refused("Nr" + u32(~0U) + "."), HasSubstr("memo"));
  EXPECT_THAT(refused("Np99999999999999999999\n."), HasSubstr("number"));
  EXPECT_THAT(refused(std::string(17 << 20, '(')), HasSubstr("1,048,576"));
  EXPECT_THAT(refused(std::string(17 << 20, ']')), HasSubstr("1,048,576"));
  EXPECT_THAT(refused("N" + std::string(17 << 20, '2')), HasSubstr("1,048,576"));
  EXPECT_THAT(refused("X" + u32(17 << 20) + std::string(17 << 20, 'x') + "."), HasSubstr("16 MiB"));
}

TEST(Pickle, StacksAndMemosAreNotBelieved) {
  for (const std::string bytes :
       {".",     "0.",     "a.",     "s.",        "(a.",   "](a.",    "N(a.",     "NNa.",  "(NNs.",        "e.",
        "u.",    "t.",     "l.",     "1.",        "R.",    "NR.",     "b.",       "Q.",    "2.",           "(.",
        "(2.",   "\x85.",  "N\x86.", "NNN(\x87.", "\x93.", "NN\x93.", "o.",       "(o.",   "}(Nu.",        "(Nd.",
        "]NNs.", "}Na.",   "(N}u.",  "\x81.",     "p0\n.", "q\x01.",  "h\x01.",   "g5\n.", "Nq\x01h\x02.", "\x94.",
        "IX\n.", "I1 \n.", "F\n.",   "L\n.",      "Sx\n.", "S'a\n.",  "\x80\x06."}) {
    EXPECT_FALSE(refused(bytes).empty()) << testing::PrintToString(bytes);
    EXPECT_NE(refused(bytes), "cut") << testing::PrintToString(bytes);
  }
}

TEST(Pickle, WhatHoldsItselfIsNotFollowedForever) {
  const auto started = std::chrono::steady_clock::now();
  EXPECT_THAT(refused(pickle_of("]q" + code(0) + "h" + code(0) + "a")), HasSubstr("64 levels"));
  EXPECT_THAT(refused(pickle_of("}q" + code(0) + "K" + code(1) + "h" + code(0) + "s")), HasSubstr("64 levels"));
  EXPECT_THAT(refused(pickle_of("]q" + code(0) + "h" + code(0) + code(0x85) + "q" + code(1) + "ah" + code(1))),
              HasSubstr("64 levels"));
  EXPECT_THAT(refused(pickle_of(std::string(100'000, '(') + std::string(100'000, 'l'))), HasSubstr("64 levels"));
  // Lists of ten lists of ten lists ...: 10^50 values, each a list without a tensor.
  std::string bomb = "]q" + code(0);
  for (int level = 1; level < 50; ++level) {
    bomb += "(";
    for (int i = 0; i < 10; ++i) bomb += "h" + code(static_cast<unsigned char>(level - 1));
    bomb += "lq" + code(static_cast<unsigned char>(level));
  }
  EXPECT_THAT(refused(pickle_of(bomb)), HasSubstr("4,194,304 values"));
  // Lists of ten lists in the same way, with a tensor at the bottom.
  std::string many = TensorPickle().value() + "q" + code(0);
  for (int level = 1; level < 20; ++level) {
    many += "(";
    for (int i = 0; i < 10; ++i) many += "h" + code(static_cast<unsigned char>(level - 1));
    many += "lq" + code(static_cast<unsigned char>(level));
  }
  EXPECT_THAT(refused(pickle_of(many)), HasSubstr("65,536 tensors"));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

TEST(Pickle, NamesOfTensorsAreBounded) {
  const std::string tensor = TensorPickle().value();
  EXPECT_THAT(refused(pickle_of("}" + text(std::string(5000, 'k')) + tensor + "s")), HasSubstr("4 KiB"));
  std::string deep = tensor;
  for (int i = 0; i < 5; ++i) deep.insert(0, "}" + text(std::string(1000, 'k'))).append("s");
  EXPECT_THAT(refused(pickle_of(deep)), HasSubstr("4 KiB"));
  EXPECT_THAT(refused(pickle_of("}" + text("a") + tensor + "s" + text("a") + tensor + "s")),
              HasSubstr("two tensors 'a'"));
  EXPECT_THAT(refused(pickle_of("}G" + u64(0) + tensor + "s")), HasSubstr("neither a string nor a number"));
}

TEST(Pickle, ATensorIsDescribedAsPyTorchDoesOrNotAtAll) {
  EXPECT_EQ(refused(pickle_of(TensorPickle().value())), "");
  const auto reason = [](const TensorPickle& pickle) { return refused(pickle_of(pickle.value())); };
  constexpr auto kMaxInt64 = std::numeric_limits<std::int64_t>::max();
  for (const TensorPickle& out :
       {TensorPickle{.elements = 5}, TensorPickle{.first = 1}, TensorPickle{.first = kMaxInt64},
        TensorPickle{.shape = {kMaxInt64, kMaxInt64}}, TensorPickle{.shape = {2, kMaxInt64}, .strides = {3, 2}},
        TensorPickle{.strides = {kMaxInt64, kMaxInt64}}, TensorPickle{.strides = {4, 1}},
        TensorPickle{.shape = {kMaxInt64, 2, 2}, .strides = {0, 0, 0}}, TensorPickle{.elements = 0}}) {
    EXPECT_THAT(reason(out), HasSubstr("beyond its storage"));
  }
  EXPECT_THAT(reason({.elements = kMaxInt64}), HasSubstr("PyTorch does not"));
  EXPECT_THAT(reason({.shape = {-2, 3}}), HasSubstr("negative"));
  EXPECT_THAT(reason({.first = -1}), HasSubstr("negative"));
  EXPECT_THAT(reason({.strides = {-3, 1}}), HasSubstr("negative stride"));
  EXPECT_THAT(reason({.strides = {1}}), HasSubstr("PyTorch does not"));
  EXPECT_THAT(reason({.shape = {1 << 30}, .strides = {0}}), HasSubstr("repeats"));
  EXPECT_EQ(reason({.shape = {1 << 20}, .strides = {0}}), "");
  EXPECT_THAT(reason({.shape = std::vector<std::int64_t>(33, 1), .strides = std::vector<std::int64_t>(33, 1)}),
              HasSubstr("32 dimensions"));
  EXPECT_THAT(reason({.more = "}" + text("conj") + "\x88" + "s"}), HasSubstr("conjugated"));
  EXPECT_EQ(reason({.more = "}"}), "");
  EXPECT_THAT(reason({.more = name("collections", "OrderedDict")}), HasSubstr("PyTorch does not"));
  EXPECT_THAT(refused(pickle_of(tuple({text("module"), "N", "N", "N", "N"}) + "Q")),
              HasSubstr("storage without a tensor"));
  const std::string rebuild = name("torch._utils", "_rebuild_tensor_v2");
  for (const std::string& arguments :
       {std::string(")"), tuple({"N", "N", "N", "N", "N", "N"}), tuple({"NQ", "N", "N", "N", "N", "N"}),
        tuple({")Q", "N", "N", "N", "N", "N"})}) {
    EXPECT_THAT(refused(pickle_of(rebuild + arguments + "R")), HasSubstr("PyTorch does not"));
  }
  const std::string module = tuple({text("module"), "N", "N", "N", "N"}) + "Q";
  EXPECT_THAT(refused(pickle_of(rebuild + tuple({module, "N", "N", "N", "N", "N"}) + "R")), HasSubstr("'module'"));
}

}  // namespace
}  // namespace millrace::pickle
