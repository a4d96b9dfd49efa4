// Input: one described table of options, and values for them from a file, the environment and flags.
// Output: the bound variables set, and for each option its value and where it came from.
// Never: reads the command line itself; src/cli hands the flags in.
//
// A described option gives the flag `--max-pixels`, the variable `MILLRACE_MAX_PIXELS`, the YAML key
// `max-pixels`, the help text, a row of the documentation page and a line of --print-config.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/choice.h"
#include "src/base/error.h"
#include "src/base/sizes.h"

namespace millrace {

enum class Origin { default_value, file, environment, flag };
const char* name_of(Origin origin);

class Settings {
 public:
  // Turns text into the bound value; throws Failure(usage) with the reason when it cannot.
  using Setter = std::function<void(const std::vector<std::string>&)>;

  struct Entry {
    std::string name;        // "max-pixels"
    std::string value_name;  // "N"; empty for a switch
    std::string help;        // one sentence, without a full stop
    std::string group;       // heading under which the help shows it
    bool repeatable = false;
    bool consent = false;             // given on the command line alone
    std::vector<std::string> values;  // as text; a switch holds "true" or "false"
    Origin origin = Origin::default_value;
    Setter set;

    bool is_switch() const { return value_name.empty(); }
    std::string text() const;  // the values joined by commas
  };

  // New options are shown under this heading from now on.
  void heading(std::string name) { group_ = std::move(name); }

  void add_switch(std::string name, std::string help, bool& value);
  // Shown as "auto" as long as nobody gave it.
  void add_switch(std::string name, std::string help, std::optional<bool>& value);
  // What a person has to say each time: no variable and no file says it by accident. False unless given.
  void add_consent(std::string name, std::string help, bool& value);
  void add_text(std::string name, std::string value_name, std::string help, std::string& value);
  void add_list(std::string name, std::string value_name, std::string help, std::vector<std::string>& value);
  void add_integer(std::string name, std::string value_name, std::string help, long long& value, long long lowest,
                   long long highest);
  void add_bytes(std::string name, std::string help, Bytes& value);
  // One of the values that choices_of() lists (src/base/choice.h).
  template <typename E>
  void add_choice(const std::string& name, const std::string& help, E& value) {
    add_choice_of(name, choice_names<E>(), help, choice_name(value),
                  [&value](std::size_t i) { value = choices_of(E{})[i].value; });
  }
  // An option whose text `set` interprets; `initial` is the default as text.
  void add_parsed(std::string name, std::string value_name, std::string help, std::string initial,
                  std::function<void(const std::string&)> set);

  const std::vector<Entry>& entries() const { return entries_; }
  bool knows(std::string_view name) const;

  // Each of these beats the one before it: file, environment, flag. A key that is not described is an error
  // that names the nearest described one.
  void apply_file(const std::string& path);
  void apply_yaml(const std::string& text, const std::string& subject);
  void apply_environment(const std::function<const char*(const char*)>& lookup);
  void apply_flag(std::string_view name, std::vector<std::string> values);

  // "name = value    # origin", one line an option, in the table's order; itself valid YAML.
  std::string print() const;
  // The options as a Markdown table for a documentation page; where only the command line may give one, it says so.
  std::string markdown() const;

 private:
  void add_choice_of(std::string name, std::vector<std::string> choices, std::string help, std::string initial,
                     std::function<void(std::size_t)> set);
  Entry& find(std::string_view name, const std::string& subject);
  void add(Entry entry);
  void assign(Entry& entry, std::vector<std::string> values, Origin origin, const std::string& subject);

  std::vector<Entry> entries_;
  std::string group_;
};

// "MILLRACE_MAX_PIXELS" for "max-pixels".
std::string environment_name(std::string_view option);

}  // namespace millrace
