#include "src/base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Options of every kind.
enum class Format { csv, json };
constexpr std::array<Choice<Format>, 2> choices_of(Format) { return {{{"csv", Format::csv}, {"json", Format::json}}}; }

struct Options {
  bool recurse = false;
  std::string output = "out.csv";
  std::vector<std::string> exclude = {"*.tmp"};
  long long radius = 5;
  Bytes memory;
  Format format = Format::csv;
  std::string kinds = "phash";

  void describe(Settings& settings) {
    settings.set_heading("First");
    settings.add_switch("recurse", "go into folders", recurse);
    settings.add_text("output", "FILE", "where to write", output);
    settings.add_list("exclude", "GLOB", "what to leave out", exclude);
    settings.set_heading("Second");
    settings.add_integer("radius", "BITS", "how many bits may differ", radius, 0, 64);
    settings.add_bytes("memory", "the most memory", memory);
    settings.add_choice("format", "how to write", format);
    settings.add_parsed("max-kinds", "KINDS", "hash kinds", kinds, [this](const std::string& text) {
      if (text == "none") throw Failure(ErrorCode::usage, "'none' is not a hash kind", "", "name one");
      kinds = text;
    });
  }
};

struct Fixture : Options {
  Settings settings;
  Fixture() { describe(settings); }

  void environment(const std::map<std::string, std::string>& variables) {
    settings.apply_environment([&](const char* name) -> const char* {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second.c_str();
    });
  }
  const Settings::Entry& entry(const std::string& name) {
    for (const auto& e : settings.entries()) {
      if (e.name == name) return e;
    }
    throw std::out_of_range(name);
  }
};

// Returns the error of work that must fail as wrong usage.
Error refused(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::usage);
    return failure.error();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Settings, DefaultsStand) {
  Fixture f;
  EXPECT_EQ(f.entry("radius").text(), "5");
  EXPECT_EQ(f.entry("memory").text(), "auto");
  EXPECT_EQ(f.entry("exclude").text(), "*.tmp");
  EXPECT_EQ(f.entry("recurse").text(), "false");
  EXPECT_TRUE(f.entry("recurse").is_switch());
  EXPECT_EQ(f.entry("radius").group, "Second");
  EXPECT_EQ(f.entry("radius").origin, OptionOrigin::default_value);
  EXPECT_TRUE(f.settings.has_option("radius"));
  EXPECT_FALSE(f.settings.has_option("radios"));
  EXPECT_EQ(environment_name("max-pixels"), "MILLRACE_MAX_PIXELS");
}

TEST(Settings, EachSourceBeatsTheOneBefore) {
  Fixture f;
  f.settings.apply_yaml("radius: 1\noutput: file.csv\nrecurse: yes\nmemory: 2G\nexclude: [a, b]\n", "c.yaml");
  EXPECT_EQ(f.radius, 1);
  EXPECT_EQ(f.memory, 2_GiB);
  EXPECT_TRUE(f.recurse);
  EXPECT_THAT(f.exclude, ElementsAre("a", "b"));
  EXPECT_EQ(f.entry("radius").origin, OptionOrigin::file);
  f.environment({{"MILLRACE_RADIUS", "2"}, {"MILLRACE_EXCLUDE", "c,d"}});
  EXPECT_EQ(f.radius, 2);
  EXPECT_THAT(f.exclude, ElementsAre("c", "d"));
  EXPECT_EQ(f.entry("radius").origin, OptionOrigin::environment);
  EXPECT_EQ(f.entry("output").origin, OptionOrigin::file);
  f.settings.apply_flag("radius", {"7", "3"});
  EXPECT_EQ(f.radius, 3);  // the last one given
  EXPECT_EQ(f.entry("radius").origin, OptionOrigin::flag);
  EXPECT_EQ(f.output, "file.csv");
  EXPECT_EQ(f.entry("format").origin, OptionOrigin::default_value);
}

TEST(Settings, AnEmptyVariableEmptiesAList) {
  Fixture f;
  f.environment({{"MILLRACE_EXCLUDE", ""}});
  EXPECT_THAT(f.exclude, IsEmpty());
}

TEST(Settings, PrintShowsValuesAndOrigins) {
  Fixture f;
  f.settings.apply_yaml("radius: 1\n", "c.yaml");
  f.environment({{"MILLRACE_OUTPUT", "env.csv"}});
  f.settings.apply_flag("recurse", {"true"});
  const std::string printed = f.settings.print();
  EXPECT_THAT(printed, testing::ContainsRegex("radius: 1 +# file\n"));
  EXPECT_THAT(printed, testing::ContainsRegex("output: env.csv +# environment\n"));
  EXPECT_THAT(printed, testing::ContainsRegex("recurse: true +# flag\n"));
  EXPECT_THAT(printed, testing::ContainsRegex("format: csv +# default\n"));
  EXPECT_THAT(printed, testing::ContainsRegex("memory: auto +# default\n"));
}

TEST(Settings, WhatIsPrintedReadsBack) {
  const std::string kHard[] = {"",
                               "plain",
                               "two words",
                               " spaces ",
                               "a: b",
                               "# no comment",
                               "- dash",
                               "[x]",
                               "{x}",
                               "a, b",
                               "it's",
                               "\"quoted\"",
                               "yes",
                               "null",
                               "~",
                               "*.jpg",
                               "&anchor",
                               "!tag",
                               "%percent",
                               "@at",
                               "back\\slash",
                               "a\nb",
                               "tab\there",
                               "1e3",
                               "0x10",
                               "Gr\xC3\xBC\xC3\x9F e",
                               "**/a [1]/*.jpg",
                               "x]y",
                               "a,b",
                               "?",
                               ": ",
                               "x #y",
                               "|",
                               ">",
                               "\x01"};
  for (const std::string& hard : kHard) {
    SCOPED_TRACE(testing::PrintToString(hard));
    Fixture before;
    before.settings.apply_flag("output", {hard});
    before.settings.apply_flag("exclude", {hard, "other", hard});
    before.settings.apply_flag("memory", {"3M"});
    Fixture after;
    ASSERT_NO_THROW(after.settings.apply_yaml(before.settings.print(), "printed"));
    EXPECT_EQ(after.output, hard);
    EXPECT_THAT(after.exclude, ElementsAre(hard, "other", hard));
    EXPECT_EQ(after.memory, 3_MiB);
    EXPECT_EQ(after.recurse, before.recurse);
    EXPECT_EQ(after.radius, before.radius);
  }
  Fixture before, after;
  before.settings.apply_flag("exclude", {});
  after.settings.apply_yaml(before.settings.print(), "printed");
  EXPECT_THAT(after.exclude, IsEmpty());
}

TEST(Settings, AnUnknownNameGetsASuggestion) {
  Fixture f;
  const Error near = refused([&] { f.settings.apply_yaml("raduis: 3\n", "c.yaml"); });
  EXPECT_EQ(near.subject, "c.yaml");
  EXPECT_THAT(near.what, HasSubstr("'raduis'"));
  EXPECT_THAT(near.remedy, HasSubstr("'radius'"));
  const Error far = refused([&] { f.settings.apply_flag("completely-else", {"1"}); });
  EXPECT_THAT(far.remedy, HasSubstr("--help"));
}

TEST(Settings, BadValuesNameTheOption) {
  Fixture f;
  EXPECT_EQ(refused([&] { f.settings.apply_flag("radius", {"many"}); }).message(),
            "--radius: 'many' is not a whole number");
  EXPECT_EQ(refused([&] { f.settings.apply_flag("radius", {"65"}); }).message(), "--radius: 65 is outside 0 to 64");
  EXPECT_EQ(refused([&] { f.settings.apply_flag("radius", {"99999999999999999999"}); }).subject, "--radius");
  EXPECT_EQ(refused([&] { f.settings.apply_flag("radius", {"5 "}); }).subject, "--radius");
  EXPECT_EQ(refused([&] { f.settings.apply_flag("radius", {}); }).what, "'radius' needs a value");
  EXPECT_EQ(refused([&] { f.environment({{"MILLRACE_RADIUS", "x"}}); }).subject, "MILLRACE_RADIUS: radius");
  EXPECT_EQ(refused([&] { f.settings.apply_yaml("radius: -1", "c.yaml"); }).subject, "c.yaml: radius");
  EXPECT_THAT(refused([&] { f.settings.apply_flag("format", {"xml"}); }).what, HasSubstr("csv, json"));
  EXPECT_THAT(refused([&] { f.settings.apply_flag("recurse", {"perhaps"}); }).what,
              HasSubstr("neither true nor false"));
  EXPECT_THAT(refused([&] { f.settings.apply_flag("memory", {"1X"}); }).message(),
              HasSubstr("--memory: '1X' is not a size"));
  EXPECT_EQ(refused([&] { f.settings.apply_flag("max-kinds", {"none"}); }).remedy, "name one");
  // A refused value changes nothing.
  EXPECT_EQ(f.radius, 5);
  EXPECT_EQ(f.entry("radius").origin, OptionOrigin::default_value);
}

TEST(Settings, BadFilesAreRefused) {
  Fixture f;
  for (const char* bad :
       {"- a\n- b\n", "just text", "radius: [1, 2]", "radius: {a: 1}", "radius:", "exclude: [[a]]", "exclude: {a: b}",
        "? [a]\n: b", "radius: 1\n  bad: indent: x", "\"unclosed", "a: *nowhere"}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(refused([&] { f.settings.apply_yaml(bad, "c.yaml"); }).subject, testing::StartsWith("c.yaml"));
  }
  refused([&] { f.settings.apply_yaml(std::string(2 << 20, '#'), "c.yaml"); });
  refused([&] { f.settings.apply_yaml(std::string(100000, '['), "c.yaml"); });
  f.settings.apply_yaml("", "c.yaml");
  f.settings.apply_yaml("# nothing\n", "c.yaml");
  EXPECT_THAT(refused([&] { f.settings.apply_file("/nowhere/at all.yaml"); }).remedy, HasSubstr("--config"));
}

TEST(Settings, MarkdownHasARowAnOption) {
  Fixture f;
  const std::string table = f.settings.to_markdown();
  EXPECT_THAT(table, HasSubstr("| `--radius` | `BITS` | `5` | how many bits may differ |\n"));
  EXPECT_THAT(table, HasSubstr("| `--format` | `csv\\|json` | `csv` | how to write |\n"));
  EXPECT_THAT(table, HasSubstr("| `--recurse` |  | `false` | go into folders |\n"));
}

}  // namespace
}  // namespace millrace
