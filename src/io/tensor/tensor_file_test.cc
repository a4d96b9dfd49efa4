#include "src/io/tensor/tensor_file.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "src/io/tensor/tensor_files_for_test.h"

namespace millrace::tensor_file {
namespace {

using for_test::deflated;
using for_test::deflated_member;
using for_test::kGzip;
using for_test::npy_of;
using for_test::pickle_of;
using for_test::stored;
using for_test::TensorFiles;
using for_test::TensorPickle;
using for_test::text_in;
using for_test::torch_zip;
using for_test::zip_of;
using for_test::ZipMember;
using testing::HasSubstr;

const std::string kTwelve = "0123456789ab";

std::string six_halves() { return npy_of("'<f2'", "(2, 3)", kTwelve); }

TEST(TensorFormat, IsTheNamesEnding) {
  EXPECT_EQ(format_of("a.npy"), Format::npy);
  EXPECT_EQ(format_of("a.npy.gz"), Format::npy_gz);
  EXPECT_EQ(format_of("A.NPZ"), Format::npz);
  EXPECT_EQ(format_of("/x.npy/a.pt"), Format::pt);
  EXPECT_EQ(format_of("a.pt.gz"), Format::pt_gz);
  EXPECT_EQ(format_of("a.b.safetensors"), Format::safetensors);
  for (const char* none : {"", "npy", "a.gz", "a.npy.bz2", "a.npy.", "apt", "a.pth", "a.npz.gz"}) {
    EXPECT_EQ(format_of(none), std::nullopt) << none;
  }
}

// Files of every format that another program wrote, with their expected contents.
TEST_F(TensorFiles, OthersFilesAreReadToTheBit) {
  const std::string command =
      "python3 " MILLRACE_SOURCE_DIR "/tests/support/torch_files.py '" + (folder_ / "made") + "'";
  if (std::system("python3 -c 'import pickle, zipfile'") != 0) GTEST_SKIP() << "there is no python3 here";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::map<std::string, int> seen;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "made")) {
    const std::string truth = entry.path().string();
    if (!truth.ends_with(".truth")) continue;
    const std::string path = truth.substr(0, truth.size() - 6);
    EXPECT_EQ(lines_of(path), text_in(truth)) << path;
    ++seen[extension(path)];
  }
  EXPECT_GE(seen["npy"], 12);
  EXPECT_GE(seen["gz"], 15);
  EXPECT_EQ(seen["npz"], 2);
  EXPECT_GE(seen["pt"], 100);
  EXPECT_EQ(seen["safetensors"], 1);
}

TEST_F(TensorFiles, EveryTruncationIsAnswered) {
  cut_everywhere("a.npy", six_halves());
  cut_everywhere("a.npy.gz", deflated(six_halves(), kGzip));
  cut_everywhere("a.npz", zip_of({stored("a.npy", six_halves()), deflated_member("b.npy", six_halves())}));
  cut_everywhere("a.pt", torch_zip(pickle_of(TensorPickle().value()), std::string(24, 'x')));
  cut_everywhere("a.pt.gz", deflated(torch_zip(pickle_of(TensorPickle().value()), std::string(24, 'x')), kGzip));
}

TEST_F(TensorFiles, AMissingFileIsReported) {
  EXPECT_EQ(tensor_file::list(folder_ / "none.pt", Format::pt).error().code, ErrorCode::not_found);
  EXPECT_EQ(tensor_file::list(folder_ / "", Format::npz).error().code, ErrorCode::unsupported);
  for (const char* name : {"a.npy", "a.npy.gz", "a.npz", "a.pt", "a.pt.gz", "a.safetensors"}) {
    EXPECT_EQ(list_error(name, "").code, ErrorCode::bad_data) << name;
    EXPECT_EQ(list_error(name, "what is this? not a tensor, it seems").code, ErrorCode::bad_data) << name;
  }
}

// A file that became shorter after it was listed is a conflict, whatever is missing.
TEST_F(TensorFiles, AFileCutShortSinceIsAConflict) {
  const std::map<std::string, std::string> files = {
      {"a.npy", six_halves()},
      {"a.npz", zip_of({stored("a.npy", six_halves())})},
      {"b.npz", zip_of({deflated_member("a.npy", six_halves())})},
      {"a.pt", torch_zip(pickle_of(TensorPickle().value()), std::string(24, 'x'))},
      {"b.pt", torch_zip(pickle_of(TensorPickle{.strides = {1, 2}}.value()), std::string(24, 'x'))}};
  for (const auto& [name, contents] : files) {
    const std::string path = write(name, contents);
    const auto tensors = list(path);
    ASSERT_TRUE(tensors) << tensors.error().message();
    ASSERT_TRUE(read(path, tensors->front())) << name;
    const std::uint64_t end = tensors->front().block.end;
    for (const std::uint64_t length : {end - 1, end / 2, std::uint64_t{0}}) {
      std::filesystem::resize_file(path, length);
      EXPECT_EQ(read(path, tensors->front()).error().code, ErrorCode::conflict) << name << " " << length;
    }
    // A file size that the caller states is not trusted either.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string out(tensors->front().bytes(), '?');
    const auto done =
        reader_.read(file.get(), contents.size(), path, tensors->front(), std::as_writable_bytes(std::span(out)));
    EXPECT_EQ(done.error().code, ErrorCode::conflict) << name;
  }
}

TEST_F(TensorFiles, GzippedArraysKeepTheirPromiseToTheByte) {
  const std::string good = six_halves();
  const auto lines = [&](const std::string& contents) { return lines_of(write("a.npy.gz", contents)); };
  const std::string expected =
      "|float16|2,3|" + hex_of_bytes({reinterpret_cast<const std::uint8_t*>(kTwelve.data()), 12}) + "\n";
  EXPECT_EQ(lines(deflated(good, kGzip)), expected);
  EXPECT_EQ(lines(deflated(good, kGzip) + std::string(1000, '\0')), expected);
  EXPECT_EQ(lines(deflated(good.substr(0, 7), kGzip) + deflated("", kGzip) + deflated(good.substr(7), kGzip)),
            expected);
  EXPECT_THAT(lines(deflated(good + "x", kGzip)), HasSubstr("is larger than"));
  EXPECT_THAT(lines(deflated(good, kGzip) + deflated("x", kGzip)), HasSubstr("is larger than"));
  EXPECT_THAT(lines(deflated(good.substr(0, good.size() - 1), kGzip)), HasSubstr("is smaller than"));
  EXPECT_THAT(lines(deflated(good, kGzip) + "rubbish that follows"), HasSubstr("damaged"));
  std::string wrong = deflated(good, kGzip);
  wrong[wrong.size() - 6] ^= 1;
  EXPECT_THAT(lines(wrong), HasSubstr("damaged"));
  wrong = deflated(good, kGzip);
  wrong[wrong.size() - 2] ^= 1;
  EXPECT_THAT(lines(wrong), HasSubstr("damaged"));
}

TEST_F(TensorFiles, PromisesThatDeflateCannotKeepTakeNoMemory) {
  const std::string huge = npy_of("'<f8'", "(1000000000, 100)", "12345678");
  EXPECT_EQ(list_error("a.npy.gz", deflated(huge, kGzip)).code, ErrorCode::bad_data);
  EXPECT_THAT(list_error("a.npy.gz", deflated(huge, kGzip)).what, HasSubstr("states float64 [1000000000, 100]"));
  EXPECT_EQ(list_error("a.npy", huge).code, ErrorCode::bad_data);
  EXPECT_EQ(list_error("a.npz", zip_of({deflated_member("a.npy", huge)})).code, ErrorCode::bad_data);
  ZipMember lie = deflated_member("a.npy", huge);
  lie.bytes = 1ULL << 40;
  lie.wide = true;
  EXPECT_THAT(list_error("a.npz", zip_of({lie})).what, HasSubstr("cannot inflate"));
  // A bomb: its real contents are a thousand times its size, and none of them are asked for.
  std::string zeros;
  zeros.resize(50'000'000);
  const std::string bomb = deflated(six_halves() + zeros, kGzip);
  const std::string path = write("bomb.npy.gz", bomb);
  const auto tensors = list(path);
  ASSERT_TRUE(tensors);
  EXPECT_LT(TensorReader::bytes(tensors->front(), bomb.size()), bomb.size() + 1000);
  EXPECT_THAT(read(path, tensors->front()).error().what, HasSubstr("is larger than"));
  EXPECT_THAT(list_error("a.pt.gz", deflated(zeros, kGzip)).what, HasSubstr("neither"));
}

TEST_F(TensorFiles, ArraysOfAnArchive) {
  const std::string texts = npy_of("'<U2'", "()", std::string(8, 'a')),
                    objects = npy_of("'|O'", "(1,)", "cos\nsystem\n.");
  EXPECT_EQ(lines_of(write("a.npz", zip_of({stored("x/y.npy", six_halves()), stored("t.npy", texts),
                                            stored("o.npy", objects), stored("readme.txt", "text")}))),
            "x/y|float16|2,3|303132333435363738396162\n");
  EXPECT_EQ(lines_of(write("a.npz", zip_of({stored("o.npy", objects)}))), "");
  EXPECT_THAT(list_error("a.npz", zip_of({stored("f.npy", npy_of("'<f2'", "(2, 3)", kTwelve, "True"))})).what,
              HasSubstr("its array 'f.npy': it is in Fortran order"));
  EXPECT_EQ(lines_of(write("a.npz", zip_of({stored("f.npy", npy_of("'<f2'", "(6,)", kTwelve, "True"))}))),
            "f|float16|6|303132333435363738396162\n");
  EXPECT_THAT(list_error("a.npz", zip_of({stored("b.npy", npy_of("'>f2'", "(6,)", kTwelve))})).what,
              HasSubstr("big-endian"));
  EXPECT_THAT(list_error("a.npz", zip_of({stored("c.npy", npy_of("'<c16'", "(1,)", kTwelve))})).what,
              HasSubstr("'<c16' is not supported"));
  EXPECT_THAT(list_error("a.npz", zip_of({stored("s.npy", npy_of("[('a', '<u4')]", "(3,)", kTwelve))})).what,
              HasSubstr("fields"));
  EXPECT_THAT(list_error("a.npz", zip_of({stored("l.npy", six_halves() + "x")})).what,
              HasSubstr("data after its array"));
  EXPECT_THAT(list_error("a.npz", zip_of({stored("n.npy", "no array")})).what, HasSubstr("'n.npy': it is not"));
  // A flipped bit is detected, in the numbers and before them, stored and deflated.
  for (const ZipMember& member : {stored("a.npy", six_halves()), deflated_member("a.npy", six_halves())}) {
    ZipMember damaged = member;
    damaged.crc = 7;
    EXPECT_THAT(lines_of(write("d.npz", zip_of({damaged}))), HasSubstr("CRC-32"));
  }
  ZipMember flipped = stored("a.npy", six_halves());
  flipped.crc = crc32_of(0, std::as_bytes(std::span(flipped.stored)));
  flipped.stored.back() ^= 1;
  EXPECT_THAT(lines_of(write("d.npz", zip_of({flipped}))), HasSubstr("CRC-32"));
}

// A reader serves one file after the other, and tensors of a gzipped file that was inflated before.
TEST_F(TensorFiles, AReaderIsUsedAgain) {
  const std::string first = npy_of("'|u1'", "(4,)", "1234"), second = npy_of("'|u1'", "(4,)", "5678");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(lines_of(write("a.npy.gz", deflated(first, kGzip))), "|uint8|4|31323334\n");
    EXPECT_EQ(lines_of(write("b.npy.gz", deflated(second, kGzip))), "|uint8|4|35363738\n");
    EXPECT_EQ(lines_of(write("c.npz", zip_of({deflated_member("x.npy", first), stored("y.npy", second)}))),
              "x|uint8|4|31323334\ny|uint8|4|35363738\n");
  }
}

TEST_F(TensorFiles, ItsMemoryIsKnownBefore) {
  const auto memory = [&](const std::string& name, const std::string& contents) {
    return TensorReader::bytes(list(write(name, contents)).or_throw().front(), contents.size());
  };
  const std::string plain = six_halves(), small = deflated(plain, kGzip);
  EXPECT_EQ(memory("a.npy", plain), 0U);
  EXPECT_EQ(memory("a.npy.gz", small), small.size() + plain.size());
  EXPECT_EQ(memory("a.npz", zip_of({stored("a.npy", plain)})), 0U);
  EXPECT_EQ(memory("a.npz", zip_of({deflated_member("a.npy", plain)})),
            deflated(plain, for_test::kRaw).size() + plain.size());
  const std::string data(24, 'x');
  EXPECT_EQ(memory("a.pt", torch_zip(pickle_of(TensorPickle().value()), data)), 0U);
  EXPECT_EQ(memory("a.pt", torch_zip(pickle_of(TensorPickle{.strides = {1, 2}}.value()), data)), 24U);
}

TEST_F(TensorFiles, RoomOfAnotherSizeIsRefused) {
  const std::string path = write("a.npy", six_halves());
  const auto tensors = list(path).or_throw();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out(13, '?');
  EXPECT_EQ(reader_.read(file.get(), 1000, path, tensors[0], std::as_writable_bytes(std::span(out))).error().code,
            ErrorCode::internal);
  EXPECT_EQ(out, std::string(13, '?'));
}

}  // namespace
}  // namespace millrace::tensor_file
