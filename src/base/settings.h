// Input: a table of described options, and values for them from a file, the environment and flags.
// Output: the bound variables set, and for each option its value and its origin.
// Never: reads the command line itself; src/cli passes the flags in.
//
// Each described option has a flag `--max-pixels`, an environment variable `MILLRACE_MAX_PIXELS` and a YAML key
// `max-pixels`. It also appears in the help text, in the table of the documentation page and in --print-config.
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

enum class OptionOrigin { default_value, file, environment, flag };
const char* name_of(OptionOrigin origin);

class Settings {
 public:
  // Sets the bound value from text; throws Failure(usage) with the reason if it cannot.
  using Setter = std::function<void(const std::vector<std::string>&)>;

  struct Entry {
    std::string name;        // "max-pixels"
    std::string value_name;  // "N"; empty for a switch
    std::string help;        // one sentence, without a full stop
    std::string group;       // heading under which the help shows it
    bool repeatable = false;
    bool consent = false;             // accepted on the command line only
    std::vector<std::string> values;  // as text; a switch has "true" or "false"
    OptionOrigin origin = OptionOrigin::default_value;
    Setter set;

    bool is_switch() const { return value_name.empty(); }
    std::string text() const;  // the values joined by commas
  };

  // Sets the heading under which options added later are shown.
  void set_heading(std::string name) { group_ = std::move(name); }

  void add_switch(std::string name, std::string help, bool& value);
  // Shows "auto" until the option is given.
  void add_switch(std::string name, std::string help, std::optional<bool>& value);
  // Adds a consent that must be given each time: neither a variable nor a file can set it by accident. False unless
  // given.
  void add_consent(std::string name, std::string help, bool& value);
  void add_text(std::string name, std::string value_name, std::string help, std::string& value);
  void add_list(std::string name, std::string value_name, std::string help, std::vector<std::string>& value);
  void add_integer(std::string name, std::string value_name, std::string help, long long& value, long long lowest,
                   long long highest);
  void add_bytes(std::string name, std::string help, Bytes& value);
  // Adds an option with one of the values that choices_of() lists (src/base/choice.h).
  template <typename E>
  void add_choice(const std::string& name, const std::string& help, E& value) {
    add_choice_of(name, choice_names<E>(), help, choice_name(value),
                  [&value](std::size_t i) { value = choices_of(E{})[i].value; });
  }
  // Adds an option whose text `set` parses; `initial` is the default as text.
  void add_parsed(std::string name, std::string value_name, std::string help, std::string initial,
                  std::function<void(const std::string&)> set);

  const std::vector<Entry>& entries() const { return entries_; }
  bool has_option(std::string_view name) const;

  // Sources in rising priority: file, environment, flag. A key that is not described throws an error that names the
  // most similar option.
  void apply_file(const std::string& path);
  void apply_yaml(const std::string& text, const std::string& subject);
  void apply_environment(const std::function<const char*(const char*)>& lookup);
  void apply_flag(std::string_view name, std::vector<std::string> values);

  // Returns "name: value    # origin", one line per option, in the order of the table. The text is valid YAML.
  std::string print() const;
  // Returns the options as a Markdown table for a documentation page; marks options that only the command line accepts.
  std::string to_markdown() const;

 private:
  void add_choice_of(std::string name, std::vector<std::string> choices, std::string help, std::string initial,
                     std::function<void(std::size_t)> set);
  Entry& find(std::string_view name, const std::string& subject);
  void add(Entry entry);
  void assign(Entry& entry, std::vector<std::string> values, OptionOrigin origin, const std::string& subject);

  std::vector<Entry> entries_;
  std::string group_;
};

// Returns "MILLRACE_MAX_PIXELS" for "max-pixels".
std::string environment_name(std::string_view option);

}  // namespace millrace
