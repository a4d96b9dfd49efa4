#include "src/base/settings.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "src/base/edit_distance.h"
#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

[[noreturn]] void refuse(std::string what, std::string remedy = {}) {
  throw Failure(ErrorCode::usage, std::move(what), {}, std::move(remedy));
}

std::string join_texts(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

bool parse_bool(const std::string& text) {
  const std::string t = lower_ascii(text);
  if (t == "true" || t == "1" || t == "yes" || t == "on") return true;
  if (t == "false" || t == "0" || t == "no" || t == "off") return false;
  refuse(fmt::format("'{}' is neither true nor false", text));
}

// The printed YAML must read back as the same values, so every value that is not plain is quoted.
std::string yaml_scalar(const std::string& text) {
  YAML::Emitter out;
  out << text;
  return out.c_str();
}

// Returns "[a, b]". Inside brackets more characters need quotes than outside.
std::string yaml_list(const std::vector<std::string>& values) {
  YAML::Emitter out;
  out << YAML::Flow << YAML::BeginSeq;
  for (const std::string& value : values) out << value;
  out << YAML::EndSeq;
  return out.c_str();
}

}  // namespace

const char* name_of(OptionOrigin origin) {
  switch (origin) {
    case OptionOrigin::default_value:
      return "default";
    case OptionOrigin::file:
      return "file";
    case OptionOrigin::environment:
      return "environment";
    case OptionOrigin::flag:
      return "flag";
  }
  return "default";
}

std::string environment_name(std::string_view option) {
  std::string name = "MILLRACE_";
  for (const char c : option) {
    name += c == '-' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return name;
}

std::string Settings::Entry::text() const { return join_texts(values, ","); }

void Settings::add(Entry entry) {
  entry.group = group_;
  entries_.push_back(std::move(entry));
}

void Settings::add_switch(std::string name, std::string help, bool& value) {
  add({.name = std::move(name),
       .value_name = "",
       .help = std::move(help),
       .group = {},
       .values = {value ? "true" : "false"},
       .set = [&value](const auto& v) { value = parse_bool(v.back()); }});
}

void Settings::add_switch(std::string name, std::string help, std::optional<bool>& value) {
  const auto set = [&value](const auto& v) {
    value = v.back() == "auto" ? std::nullopt : std::optional<bool>(parse_bool(v.back()));
  };
  add({.name = std::move(name),
       .value_name = "",
       .help = std::move(help),
       .group = {},
       .values = {"auto"},
       .set = set});
}

void Settings::add_consent(std::string name, std::string help, bool& value) {
  add_switch(std::move(name), std::move(help), value);
  entries_.back().consent = true;
}

void Settings::add_text(std::string name, std::string value_name, std::string help, std::string& value) {
  std::string initial = value;
  add_parsed(std::move(name), std::move(value_name), std::move(help), std::move(initial),
             [&value](const std::string& v) { value = v; });
}

void Settings::add_list(std::string name, std::string value_name, std::string help, std::vector<std::string>& value) {
  add({.name = std::move(name),
       .value_name = std::move(value_name),
       .help = std::move(help),
       .group = {},
       .repeatable = true,
       .values = value,
       .set = [&value](const auto& v) { value = v; }});
}

void Settings::add_integer(std::string name, std::string value_name, std::string help, long long& value,
                           long long lowest, long long highest) {
  add_parsed(std::move(name), std::move(value_name), std::move(help), std::to_string(value),
             [&value, lowest, highest](const std::string& text) {
               long long n = 0;
               const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
               if (ec != std::errc{} || end != text.data() + text.size()) {
                 refuse(fmt::format("'{}' is not a whole number", text));
               }
               if (n < lowest || n > highest) {
                 refuse(fmt::format("{} is outside {} to {}", n, lowest, highest));
               }
               value = n;
             });
}

void Settings::add_bytes(std::string name, std::string help, Bytes& value) {
  add_parsed(std::move(name), "SIZE", std::move(help), value.count == 0 ? "auto" : std::to_string(value.count),
             [&value](const std::string& text) { value = text == "auto" ? Bytes{} : parse_bytes(text).or_throw(); });
}

void Settings::add_choice_of(std::string name, std::vector<std::string> choices, std::string help, std::string initial,
                             std::function<void(std::size_t)> set) {
  std::string shown = join_texts(choices, "|");
  add_parsed(std::move(name), std::move(shown), std::move(help), std::move(initial),
             [set = std::move(set), choices = std::move(choices)](const std::string& text) {
               const auto at = std::find(choices.begin(), choices.end(), text);
               if (at == choices.end()) refuse(fmt::format("'{}' is not one of {}", text, join_texts(choices, ", ")));
               set(static_cast<std::size_t>(at - choices.begin()));
             });
}

void Settings::add_parsed(std::string name, std::string value_name, std::string help, std::string initial,
                          std::function<void(const std::string&)> set) {
  add({.name = std::move(name),
       .value_name = std::move(value_name),
       .help = std::move(help),
       .group = {},
       .values = {std::move(initial)},
       .set = [set = std::move(set)](const auto& v) { set(v.back()); }});
}

bool Settings::has_option(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
}

Settings::Entry& Settings::find(std::string_view name, const std::string& subject) {
  Entry* nearest = nullptr;
  std::size_t best = 4;
  for (Entry& entry : entries_) {
    if (entry.name == name) return entry;
    const std::size_t distance = edit_distance(entry.name, name);
    if (distance < best) {
      best = distance;
      nearest = &entry;
    }
  }
  throw Failure(ErrorCode::usage, fmt::format("there is no option '{}'", escape_unprintable(name)), subject,
                nearest != nullptr ? fmt::format("did you mean '{}'?", nearest->name) : "--help lists the options");
}

void Settings::assign(Entry& entry, std::vector<std::string> values, OptionOrigin origin, const std::string& subject) {
  if (entry.consent && origin != OptionOrigin::flag) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' is accepted on the command line only", entry.name), subject,
                  fmt::format("add --{} to the command", entry.name));
  }
  if (values.empty() && !entry.repeatable) {
    throw Failure(ErrorCode::usage, fmt::format("'{}' needs a value", entry.name), subject);
  }
  try {
    entry.set(values);
  } catch (const Failure& failure) {
    Error error = failure.error();
    error.subject = subject.empty() ? "--" + entry.name : fmt::format("{}: {}", subject, entry.name);
    throw Failure(std::move(error));
  }
  if (!entry.repeatable) values = {values.back()};
  entry.values = std::move(values);
  entry.origin = origin;
}

void Settings::apply_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw Failure(ErrorCode::usage, "the settings file cannot be read", escape_unprintable(path),
                  "check the path given to --config");
  }
  // A device without end is read only up to the size that apply_yaml() refuses.
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  apply_yaml(text, escape_unprintable(path));
}

void Settings::apply_yaml(const std::string& text, const std::string& subject) {
  // yaml-cpp itself stops at 500 nested levels, but does not limit the size.
  if (text.size() > kMaxFileBytes) {
    throw Failure(ErrorCode::usage, "the settings file is too large (the limit is 1 MiB)", subject);
  }
  YAML::Node root;
  try {
    root = YAML::Load(text);
    if (root.IsNull()) return;
    if (!root.IsMap()) {
      throw Failure(ErrorCode::usage, "the settings file is not a list of lines 'option: value'", subject);
    }
    for (const auto& pair : root) {
      if (!pair.first.IsScalar()) {
        throw Failure(ErrorCode::usage, "an option's name is not plain text", subject);
      }
      Entry& entry = find(pair.first.Scalar(), subject);
      std::vector<std::string> values;
      if (pair.second.IsSequence()) {
        for (const auto& item : pair.second) {
          if (!item.IsScalar()) {
            throw Failure(ErrorCode::usage,
                          fmt::format("an item of '{}' is empty or nested; expected plain values", entry.name),
                          subject);
          }
          values.push_back(item.Scalar());
        }
        if (!entry.repeatable) {
          throw Failure(ErrorCode::usage, fmt::format("'{}' takes one value, not a list", entry.name), subject);
        }
      } else if (pair.second.IsScalar()) {
        values.push_back(pair.second.Scalar());
      } else {
        throw Failure(ErrorCode::usage,
                      fmt::format("'{}' has no value, or nested values; expected one plain value", entry.name),
                      subject);
      }
      assign(entry, std::move(values), OptionOrigin::file, subject);
    }
  } catch (const YAML::Exception& e) {
    throw Failure(ErrorCode::usage, fmt::format("the settings file is not YAML: {}", e.what()), subject);
  }
}

void Settings::apply_environment(const std::function<const char*(const char*)>& lookup) {
  for (Entry& entry : entries_) {
    if (entry.consent) continue;
    const std::string variable = environment_name(entry.name);
    const char* value = lookup(variable.c_str());
    if (value == nullptr) continue;
    std::vector<std::string> values{value};
    if (entry.repeatable) values = *value == '\0' ? std::vector<std::string>{} : split(value, ',');
    assign(entry, std::move(values), OptionOrigin::environment, variable);
  }
}

void Settings::apply_flag(std::string_view name, std::vector<std::string> values) {
  assign(find(name, ""), std::move(values), OptionOrigin::flag, "");
}

std::string Settings::print() const {
  std::string out;
  for (const Entry& entry : entries_) {
    if (entry.consent) continue;  // print() lists only options that a file may set
    const std::string value = entry.repeatable ? yaml_list(entry.values) : yaml_scalar(entry.text());
    out += fmt::format("{:<40}  # {}\n", entry.name + ": " + value, name_of(entry.origin));
  }
  return out;
}

std::string Settings::to_markdown() const {
  std::string out = "| option | value | default | meaning |\n|---|---|---|---|\n";
  for (const Entry& entry : entries_) {
    std::string value = entry.is_switch() ? "" : "`" + entry.value_name + "`";
    for (std::size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2) {
      value.insert(at, "\\");
    }
    const std::string shown = entry.text().empty() ? "" : "`" + entry.text() + "`";
    out += fmt::format("| `--{}` | {} | {} | {}{} |\n", entry.name, value, shown, entry.help,
                       entry.consent ? " (on the command line only)" : "");
  }
  return out;
}

}  // namespace millrace
