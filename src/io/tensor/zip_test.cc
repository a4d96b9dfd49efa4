#include "src/io/tensor/zip.h"

#include <gmock/gmock.h>

#include "src/io/tensor/tensor_files_for_test.h"

namespace millrace::zip {
namespace {

using for_test::deflated_member;
using for_test::stored;
using for_test::u32;
using for_test::zip_of;
using for_test::ZipMember;
using testing::HasSubstr;

std::string what(const std::string& archive, std::uint64_t most = 1 << 20) {
  MemorySource source(std::as_bytes(std::span(archive)));
  Inflater inflater;
  try {
    std::string out;
    for (const ZipEntry& member : members(source)) {
      out += member.name + "=" + contents(source, member, most, inflater) + ";";
    }
    return out;
  } catch (const ParseError& parse_error) {
    return parse_error.what;
  }
}

TEST(Zip, StoredAndDeflatedMembersAreReadInOrder) {
  ZipMember wide = stored("wide", "3");
  wide.wide = true;
  const std::string archive =
      zip_of({stored("b", "1"), deflated_member("a", std::string(1000, 'x')), wide, stored("folder/", "")});
  EXPECT_EQ(what(archive), "b=1;a=" + std::string(1000, 'x') + ";wide=3;folder/=;");
  EXPECT_EQ(what(archive + "", 100), "its member 'a' is too large (1000 B; the limit is 100 B)");
  EXPECT_EQ(what(zip_of({})), "");
}

TEST(Zip, LiesAreRefused) {
  const auto with = [](auto change) {
    ZipMember member = deflated_member("a", std::string(1000, 'x'));
    change(member);
    return what(zip_of({stored("first", "1"), member, stored("last", "9")}));
  };
  EXPECT_THAT(with([](ZipMember& m) { m.flags = 1; }), HasSubstr("'a' is encrypted"));
  EXPECT_THAT(with([](ZipMember& m) { m.flags = 1 << 6; }), HasSubstr("'a' is encrypted"));
  EXPECT_THAT(with([](ZipMember& m) { m.method = 12; }), HasSubstr("'a' is compressed by method 12"));
  EXPECT_THAT(with([](ZipMember& m) { m.bytes = 999; }), HasSubstr("is larger than"));
  EXPECT_THAT(with([](ZipMember& m) { m.bytes = 1001; }), HasSubstr("is smaller than"));
  EXPECT_THAT(with([](ZipMember& m) { m.bytes = 1 << 20; }), HasSubstr("cannot inflate"));
  EXPECT_THAT(with([](ZipMember& m) { m.bytes = ~0ULL, m.wide = true; }), HasSubstr("cannot inflate"));
  EXPECT_THAT(with([](ZipMember& m) { m.crc = 5; }), HasSubstr("'a' is damaged"));
  EXPECT_THAT(with([](ZipMember& m) { m.method = 0; }), HasSubstr("two sizes"));
  EXPECT_THAT(with([](ZipMember& m) { m.directory_stored = m.stored.size() + 20; }), HasSubstr("'a' overlaps"));
  EXPECT_THAT(with([](ZipMember& m) { m.directory_stored = m.stored.size() - 1; }), HasSubstr("compressed data"));
  EXPECT_THAT(with([](ZipMember& m) { m.directory_stored = ~0ULL, m.wide = true; }), HasSubstr("'a' overlaps"));
  EXPECT_THAT(with([](ZipMember& m) { m.stored += "more"; }), HasSubstr("ends too early"));
  EXPECT_THAT(with([](ZipMember& m) { m.stored[3] ^= 0x55; }), HasSubstr("its"));
  EXPECT_THAT(with([](ZipMember& m) { m.name = "last"; }), HasSubstr("two members 'last'"));
  EXPECT_THAT(with([](ZipMember& m) { m.name = std::string(5000, 'n'); }), HasSubstr("4 KiB"));
  for (const std::uint64_t at : {1ULL, 20ULL, 10'000ULL, 0xFFFFFFFFULL}) {
    EXPECT_FALSE(with([&](ZipMember& m) { m.offset = at; }).find('=') != std::string::npos) << at;
  }
}

// A bomb: many members would be inflated from the same few bytes.
TEST(Zip, MembersShareNoBytes) {
  const std::string text(100'000, 'x');
  const ZipMember kernel = deflated_member("kernel", text);
  std::vector<ZipMember> members = {kernel};
  for (int i = 0; i < 100; ++i) {
    ZipMember same = kernel;
    same.name = "same" + std::to_string(i);
    same.directory_stored = kernel.stored.size();
    same.stored.clear();
    same.offset = 0;
    members.push_back(same);
  }
  EXPECT_THAT(what(zip_of(members)), HasSubstr("overlaps another one"));
  // A member that contains the header of the next one as its own contents.
  ZipMember quoting = stored("quoting", "");
  quoting.directory_stored = quoting.bytes = 30 + 6 + kernel.stored.size();
  EXPECT_THAT(what(zip_of({quoting, kernel})), HasSubstr("'quoting' overlaps another one"));
}

// The header before a member states its own length.
TEST(Zip, AHeaderThatReachesIntoTheNextMemberIsRefused) {
  std::string archive = zip_of({stored("a", "12345"), stored("b", "6789")});
  archive[28] = 3;
  EXPECT_THAT(what(archive), HasSubstr("overlaps another one"));
  archive[28] = 0;
  EXPECT_EQ(what(archive), "a=12345;b=6789;");
  archive[8] = 8;
  EXPECT_THAT(what(archive), HasSubstr("contradicts"));
  archive[0] = 'X';
  EXPECT_THAT(what(archive), HasSubstr("does not begin"));
}

TEST(Zip, DirectoriesAreNotBelieved) {
  const std::string good = zip_of({stored("a", "12345")});
  const auto end = good.size() - 22;
  const auto changed = [&](std::size_t at, const std::string& bytes) {
    std::string out = good;
    out.replace(end + at, bytes.size(), bytes);
    return what(out);
  };
  EXPECT_THAT(what(""), HasSubstr("too short"));
  EXPECT_THAT(what(std::string(100'000, 'x')), HasSubstr("no directory"));
  EXPECT_THAT(what(good + "x"), HasSubstr("no directory"));
  EXPECT_THAT(changed(4, "\1"), HasSubstr("several files"));
  EXPECT_THAT(changed(8, "\2"), HasSubstr("several files"));
  EXPECT_THAT(changed(8, std::string("\2\0\2\0", 4)), HasSubstr("shorter than the file states"));
  EXPECT_THAT(changed(8, std::string("\xFE\xFF\xFE\xFF", 4)), HasSubstr("shorter than the file states"));
  EXPECT_THAT(changed(12, u32(0xFFFFFFF0)), HasSubstr("outside"));
  EXPECT_THAT(changed(16, u32(0xFFFFFFF0)), HasSubstr("outside"));
  EXPECT_THAT(changed(16, u32(3)), HasSubstr("damaged"));
  EXPECT_FALSE(what(zip_of(std::vector<ZipMember>(70'000), 0xFFFF)).find('=') != std::string::npos);
  // A comment may follow, and may look like an end.
  std::string commented = good + "PK\5\6 is what an end begins with";
  commented[good.size() - 2] = static_cast<char>(commented.size() - good.size());
  EXPECT_EQ(what(commented), "a=12345;");
}

TEST(Zip, EveryTruncationIsAnswered) {
  const std::string good = zip_of({stored("a", "12345"), deflated_member("b", std::string(300, 'b'))});
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_THAT(what(good.substr(0, length)), HasSubstr("zip archive")) << length;
  }
}

}  // namespace
}  // namespace millrace::zip
