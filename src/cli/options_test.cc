// Tests of every option of every job, as the command line parses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "src/cli/app.h"
#include "src/cli/option_mistakes.h"

namespace millrace::cli {
namespace {

using Words = std::vector<std::string>;
using Understood = std::map<std::string, std::string>;

// A program with one job, and with the parent command of a subcommand.
struct Program {
  explicit Program(const ListedJob& job) {
    CLI::App* under = &app;
    for (const ListedJob& each : all_jobs()) {
      if (!job.parent_command.empty() && each.name == job.parent_command) under = &add_job(app, each, commands);
    }
    add_job(*under, job, commands);
  }
  // The last command is the tested job.
  const Settings& settings() { return commands.back()->resolve_options(); }

  CLI::App app{"", "millrace"};
  Commands commands;
};

class OptionsTest : public testing::TestWithParam<ListedJob> {
 protected:
  static void read(Program& program, const Words& words) {
    Words all{"millrace", std::string(GetParam().name)};
    if (!GetParam().parent_command.empty()) all.insert(all.begin() + 1, std::string(GetParam().parent_command));
    all.insert(all.end(), words.begin(), words.end());
    std::vector<const char*> pointers;
    for (const std::string& word : all) pointers.push_back(word.c_str());
    refuse_option_mistakes(program.app, static_cast<int>(pointers.size()), pointers.data());
    program.app.parse(static_cast<int>(pointers.size()), pointers.data());
  }

  static Understood understood(const Words& words) {
    Program program(GetParam());
    read(program, words);
    Understood out;
    for (const Settings::Entry& entry : program.settings().entries()) out[entry.name] = entry.text();
    return out;
  }

  // Returns the error for these words; std::nullopt if they are accepted.
  static std::optional<Error> slip_in(const Words& words) {
    Program program(GetParam());
    try {
      read(program, words);
    } catch (const Failure& failure) {
      return failure.error();
    }
    return std::nullopt;
  }
};

// Returns a value that the option accepts, preferably one of more than one word.
std::string value_for(const Settings::Entry& entry) {
  Words tried{"a b",     "7",         "0.25",    "2/3",   "1,2",      "1000", "1,2,30,40",
              "0:9:2",   "0:01:07",   "#102030", "phash", "phash<=4", "FCHW", "oldest",
              "300x200", "spatial.*", "mask",    "crop",  "hard",     "bf16", "0.75"};
  if (const std::size_t slash = entry.value_name.rfind('|'); slash != std::string::npos)
    tried.insert(tried.begin(), entry.value_name.substr(slash + 1));
  for (const std::string& value : tried) {
    try {
      entry.set({value});
      return value;
    } catch (const Failure&) {
      continue;
    }
  }
  ADD_FAILURE() << "no value for --" << entry.name << " " << entry.value_name;
  return "";
}

Words joined(std::initializer_list<Words> parts) {
  Words out;
  for (const Words& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

TEST_P(OptionsTest, TakeTheirValueAndNoWordMore) {
  Program program(GetParam());
  const Words word{"WORD"};
  const Understood base = understood(word);
  for (const Settings::Entry& entry : program.settings().entries()) {
    std::vector<Words> spellings;
    std::string value;
    if (entry.is_switch()) {
      spellings = {{"--" + entry.name}};
    } else {
      value = value_for(entry);
      spellings = {{"--" + entry.name, value}, {"--" + entry.name + "=" + value}};
      if (entry.name == "output") spellings.push_back({"-o", value});
    }
    std::vector<std::string> beside{"threads", "memory", "progress"};
    std::erase(beside, entry.name);
    const std::map<std::string, Words> others{
        {"threads", {"--threads", "3"}}, {"memory", {"--memory", "5000"}}, {"progress", {"--progress", "json"}}};
    std::set<std::string> seen;
    for (const Words& spelling : spellings) {
      const Words between = joined({others.at(beside[0]), spelling, others.at(beside[1]), word});
      for (const Words& line : {joined({spelling, word}), joined({word, spelling}), between}) {
        SCOPED_TRACE(testing::PrintToString(line));
        const Understood got = understood(line);
        for (const auto& [name, text] : got) {
          EXPECT_NE(text, "WORD") << name;
          if (name != entry.name && name != beside[0] && name != beside[1]) {
            EXPECT_EQ(text, base.at(name)) << name;
          }
        }
        seen.insert(got.at(entry.name));
      }
    }
    EXPECT_EQ(seen.size(), 1U) << entry.name;
    EXPECT_THAT(*seen.begin(), testing::HasSubstr(value)) << entry.name;
  }
}

TEST_P(OptionsTest, CountsAreWholeNumbers) {
  Program program(GetParam());
  for (const Settings::Entry& entry : program.settings().entries()) {
    if (entry.value_name != "N" && entry.value_name != "ROWS") continue;
    for (const char* text :
         {"", "8.7", "8B", "8K", "8 MiB", "0x8", "8e1", "8,9", "-8", "eight", "8 ", "99999999999999999999"}) {
      try {
        entry.set({text});
        ADD_FAILURE() << "--" << entry.name << " '" << text << "'";
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.error().code, ErrorCode::usage) << entry.name;
      }
    }
  }
}

TEST_P(OptionsTest, WithoutTheirValueTakeNoOtherOption) {
  Program program(GetParam());
  for (const Settings::Entry& entry : program.settings().entries()) {
    const std::string name = "--" + entry.name;
    for (const Words& line : {Words{name, "--quiet", "WORD"}, Words{"WORD", name, "-q"}}) {
      const auto slip = slip_in(line);
      ASSERT_EQ(slip.has_value(), !entry.is_switch()) << testing::PrintToString(line);
      if (!slip) continue;
      EXPECT_EQ(slip->code, ErrorCode::usage);
      EXPECT_EQ(slip->subject, name);
    }
  }
}

TEST_P(OptionsTest, AFileOfOptionsIsOneWord) {
  const std::string path = testing::TempDir() + "options of " + std::string(GetParam().name) + ".yaml";
  std::ofstream(path) << "threads: 3\n";
  EXPECT_EQ(understood({"--config", path, "WORD"}).at("threads"), "3");
}

INSTANTIATE_TEST_SUITE_P(OfEveryJob, OptionsTest, testing::ValuesIn(all_jobs().begin(), all_jobs().end()),
                         [](const auto& of) {
                           return std::string(of.param.parent_command) + std::string(of.param.name);
                         });

}  // namespace
}  // namespace millrace::cli
