#include "src/cli/option_mistakes.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "src/base/edit_distance.h"
#include "src/base/error.h"
#include "src/base/text.h"

namespace millrace::cli {
namespace {

// Options that are valid after the words so far, including those of the commands among them. A switch of one command
// may take a value in another.
class ValidOptions {
 public:
  explicit ValidOptions(const CLI::App& app) : command_(&app) { collect(); }

  // Processes the next word; words must come in their order.
  void enter_command(const std::string& word) {
    const auto children = command_->get_subcommands([&](const CLI::App* child) { return child->get_name() == word; });
    if (children.empty()) return;
    command_ = children.front();
    collect();
  }
  bool takes_value(const std::string& word) const { return with_value_.contains(word); }
  bool has_option(const std::string& word) const { return all_.contains(word); }
  // Returns the option that a misspelt word probably meant; empty if no option is similar.
  std::string nearest(const std::string& word) const {
    std::string out;
    std::size_t best = 4;
    for (const std::string& name : all_) {
      if (const std::size_t distance = edit_distance(name, word); distance < best) {
        best = distance;
        out = name;
      }
    }
    return out;
  }

 private:
  void collect() {
    for (const CLI::Option* option : command_->get_options()) {
      const auto add = [&](const std::string& name) {
        all_.insert(name);
        if (option->get_items_expected_max() > 0) with_value_.insert(name);
      };
      for (const std::string& name : option->get_lnames()) add("--" + name);
      for (const std::string& name : option->get_snames()) add("-" + name);
    }
  }

  const CLI::App* command_;
  std::set<std::string> all_, with_value_;
};

}  // namespace

void refuse_option_mistakes(const CLI::App& app, int argc, const char* const* argv) {
  ValidOptions options(app);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--") return;
    options.enter_command(word);
    const std::string name = word.substr(0, word.find('='));
    if (name.size() > 2 && name.starts_with("--") && !options.has_option(name)) {
      const std::string meant = options.nearest(name);
      throw Failure(ErrorCode::usage, fmt::format("there is no option '{}'", escape_unprintable(name)), "",
                    meant.empty() ? "--help lists the options" : fmt::format("did you mean '{}'?", meant));
    }
    if (name.size() < word.size() && options.has_option(name) && !options.takes_value(name)) {
      const std::string value = word.substr(name.size() + 1);
      if (value != "true" && value != "false") {
        throw Failure(ErrorCode::usage, fmt::format("'{}' is neither true nor false", escape_unprintable(value)), name,
                      fmt::format("write {0} or {0}=false", name));
      }
    }
    const bool number = next.size() > 1 && std::string_view("0123456789.").find(next[1]) != std::string_view::npos;
    if (!options.takes_value(word) || next.size() < 2 || next[0] != '-' || number) continue;
    throw Failure(ErrorCode::usage, fmt::format("a value is missing before '{}'", escape_unprintable(next)), word,
                  fmt::format("write {}=VALUE if the value begins with a dash", word));
  }
}

}  // namespace millrace::cli
