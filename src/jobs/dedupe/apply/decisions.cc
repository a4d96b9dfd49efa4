#include "src/jobs/dedupe/apply/decisions.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/base/parse_values.h"
#include "src/base/sizes.h"
#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

constexpr std::size_t kMaxPathBytes = 1 << 16;
constexpr std::size_t kMaxGroupBytes = 1 << 10;
constexpr int kMaxDepth = 64;

// Returns why these bytes cannot be the path of a file; empty if they can.
std::string path_problem(const std::string& path) {
  if (path.empty()) return "its path is missing";
  if (path[0] != '/') return "its path is not absolute";
  if (path.size() > kMaxPathBytes) return "its path is too long";
  if (path.find('\0') != std::string::npos) return "its path contains a zero byte";
  return "";
}

// An entry while it is read, before all of its fields are known.
struct Draft {
  std::optional<std::string> group, action, path, path_base64, mtime_text, hash, with;
  std::optional<std::uint64_t> size;
  std::optional<std::int64_t> mtime;
  std::uint64_t whole_group = 0;
  bool reference = false, chosen = false;
};

// Processes the JSON events as they come, so that a hostile text cannot build a large or deep structure.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Decisions decisions;
  std::string problem;
  bool versioned = false, listed = false;

  bool null() override { return at_ == At::version ? refuse_version() : value_of_wrong_kind(); }
  bool boolean(bool value) override {
    if (bool* const field = at_ == At::entry ? flag() : nullptr) {
      *field = value;
      return true;
    }
    return at_ == At::version ? refuse_version() : value_of_wrong_kind();
  }
  bool number_integer(number_integer_t value) override {
    if (at_ == At::entry && key_ == "mtime_ns") {
      draft_.mtime = value;
      return true;
    }
    return at_ == At::version ? refuse_version() : value_of_wrong_kind();
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (at_ == At::version) {
      if (value != 1) return refuse_version();
      versioned = true;
      return leave_value();
    }
    if (at_ == At::entry && key_ == "size") {
      draft_.size = value;
      return true;
    }
    if (at_ == At::entry && key_ == "mtime_ns") {
      if (value > static_cast<std::uint64_t>(INT64_MAX)) return refuse("its mtime_ns is out of range");
      draft_.mtime = static_cast<std::int64_t>(value);
      return true;
    }
    if (at_ == At::entry && key_ == "whole_group" && value > 1) {
      draft_.whole_group = value;
      return true;
    }
    return value_of_wrong_kind();
  }
  bool number_float(number_float_t, const string_t&) override {
    return at_ == At::version ? refuse_version() : value_of_wrong_kind();
  }
  bool string(string_t& value) override {
    if (at_ == At::version) return refuse_version();
    if (at_ == At::references) return add_reference(value);
    if ((at_ != At::entry && at_ != At::reference)) return value_of_wrong_kind();
    if (std::optional<std::string>* field = text_field()) {
      *field = std::move(value);
      return true;
    }
    return value_of_wrong_kind();
  }
  bool binary(binary_t&) override { return value_of_wrong_kind(); }

  bool start_object(std::size_t) override {
    if (!enter_level()) return false;
    if (depth_ == 1) {
      at_ = At::top;
    } else if (skip_ == 0 && (at_ == At::decisions || at_ == At::references)) {
      at_ = at_ == At::decisions ? At::entry : At::reference;
      draft_ = {};
    } else {
      return start_other();
    }
    return true;
  }
  bool end_object() override {
    --depth_;
    if (skip_ > 0) return end_other();
    if (at_ == At::entry) {
      at_ = At::decisions;
      return finish_entry();
    }
    if (at_ == At::reference) {
      at_ = At::references;
      return finish_reference();
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (!enter_level()) return false;
    if (depth_ == 1) return refuse_whole("it is not a decisions file: found a list, expected an object");
    if (skip_ == 0 && at_ == At::decisions_value) {
      at_ = At::decisions;
      listed = true;
    } else if (skip_ == 0 && at_ == At::references_value) {
      at_ = At::references;
    } else {
      return start_other();
    }
    return true;
  }
  bool end_array() override {
    --depth_;
    if (skip_ > 0) return end_other();
    at_ = At::top;
    return true;
  }
  bool key(string_t& name) override {
    if (skip_ > 0) return true;
    key_ = std::move(name);
    if (at_ != At::entry && at_ != At::reference) {
      at_ = key_ == "millrace_decisions" ? At::version
            : key_ == "decisions"        ? At::decisions_value
            : key_ == "references"       ? At::references_value
                                         : At::top;
      if (at_ == At::decisions_value && listed) return refuse_whole("\"decisions\" is in it twice");
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    if (problem.empty()) problem = fmt::format("it is not valid JSON: error at byte {}", position);
    return false;
  }

 private:
  enum class At { top, version, decisions_value, decisions, entry, references_value, references, reference };

  bool refuse_whole(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool refuse(const std::string& why) { return refuse_whole(fmt::format("decision {}: {}", number_ + 1, why)); }
  bool refuse_version() { return refuse_whole("\"millrace_decisions\" is not 1: another version wrote it"); }
  bool leave_value() {
    at_ = At::top;
    return true;
  }

  bool enter_level() { return ++depth_ <= kMaxDepth || refuse_whole("it is nested too deeply"); }
  bool start_other() {
    if (skip_ == 0 && !value_of_wrong_kind()) return false;
    ++skip_;
    return true;
  }
  bool end_other() {
    --skip_;
    return true;
  }

  bool* flag() {
    if (key_ == "reference") return &draft_.reference;
    if (key_ == "chosen") return &draft_.chosen;
    return nullptr;
  }

  std::optional<std::string>* text_field() {
    if (key_ == "path") return &draft_.path;
    if (key_ == "path_base64") return &draft_.path_base64;
    if (at_ == At::reference) return nullptr;
    if (key_ == "group") return &draft_.group;
    if (key_ == "action") return &draft_.action;
    if (key_ == "mtime_ns") return &draft_.mtime_text;
    if (key_ == "hash") return &draft_.hash;
    if (key_ == "with") return &draft_.with;
    return nullptr;
  }

  // Handles an unused value: accepted under an unknown name, an error under a known one.
  bool value_of_wrong_kind() {
    if (skip_ > 0) return true;
    switch (at_) {
      case At::top:
        return depth_ > 0 || refuse_whole("it is not a decisions file");
      case At::version:
        return refuse_version();
      case At::decisions_value:
        return refuse_whole("\"decisions\" is not a list");
      case At::references_value:
        return refuse_whole("\"references\" is not a list");
      case At::decisions:
        return refuse("it is not an object");
      case At::references:
        return refuse_whole("\"references\" contains something that is not a path");
      case At::entry:
      case At::reference:
        break;
    }
    // A bare "true" would cover whatever is left of the group later.
    if (at_ == At::entry && key_ == "whole_group")
      return refuse("its whole_group must be the number of members of its group, at least 2");
    const bool known = text_field() != nullptr || (at_ == At::entry && (key_ == "size" || flag() != nullptr));
    return !known || (at_ == At::entry ? refuse(fmt::format("its {} has the wrong type", key_))
                                       : refuse_whole("a reference's path is not text"));
  }

  // Returns the path of a draft; its Base64 form holds the true bytes.
  std::optional<std::string> path_of_draft() {
    if (!draft_.path_base64) return draft_.path.value_or("");
    return from_base64(*draft_.path_base64);
  }

  bool add_reference(const std::string& path) {
    if (const std::string why = path_problem(path); !why.empty())
      return refuse_whole("a reference cannot be used: " + why);
    if (decisions.references.size() >= kMaxDecisions)
      return refuse_whole(fmt::format("too many references (the limit is {})", kMaxDecisions));
    decisions.references.push_back(path);
    return true;
  }

  bool finish_reference() {
    const auto path = path_of_draft();
    return path ? add_reference(*path) : refuse_whole("a reference's path_base64 is not Base64");
  }

  bool finish_entry() {
    if (number_ >= kMaxDecisions)
      return refuse_whole(fmt::format("too many decisions (the limit is {})", kMaxDecisions));
    Decision out;
    if (!draft_.action) return refuse("its action is missing");
    if (*draft_.action == "remove") {
      out.kind = DecisionKind::remove;
    } else if (*draft_.action == "keep") {
      out.kind = DecisionKind::keep;
    } else if (*draft_.action == "not_duplicates") {
      out.kind = DecisionKind::confirmed_distinct;
    } else {
      return refuse("its action must be remove, keep or not_duplicates");
    }
    auto path = path_of_draft();
    if (!path) return refuse("its path_base64 is not Base64");
    if (const std::string why = path_problem(*path); !why.empty()) return refuse(why);
    out.path = std::move(*path);
    if (!draft_.group || draft_.group->empty()) return refuse("its group is missing");
    if (draft_.group->size() > kMaxGroupBytes) return refuse("its group's name is too long");
    out.group = std::move(*draft_.group);
    if (!draft_.size) return refuse("its size is missing");
    out.size = *draft_.size;
    if (draft_.mtime_text) {
      if (!read_number(*draft_.mtime_text, out.mtime_ns)) return refuse("its mtime_ns is not a whole number");
    } else if (draft_.mtime) {
      out.mtime_ns = *draft_.mtime;
    } else {
      return refuse("its mtime_ns is missing");
    }
    const auto hash = content_hash_from_hex(draft_.hash.value_or(""));
    if (!hash) return refuse("its hash is not 32 hexadecimal digits");
    out.hash = *hash;
    if (draft_.with && out.kind == DecisionKind::confirmed_distinct) {
      out.with = content_hash_from_hex(*draft_.with);
      if (!out.with) return refuse("its \"with\" is not 32 hexadecimal digits");
    }
    out.reference = draft_.reference;
    out.chosen = draft_.chosen;
    out.whole_group = draft_.whole_group;
    decisions.entries.push_back(std::move(out));
    ++number_;
    return true;
  }

  At at_ = At::top;
  int depth_ = 0;
  int skip_ = 0;  // depth of containers inside a skipped value
  std::size_t number_ = 0;
  std::string key_;
  Draft draft_;
};

}  // namespace

Outcome<Decisions> parse_decisions(std::string_view text) {
  const auto fail = [](ErrorCode code, std::string what) {
    return Error{code, std::move(what), "the decisions", "save decisions.json again from the page"};
  };
  if (text.size() > kMaxDecisionBytes) {
    return fail(ErrorCode::too_large,
                fmt::format("the file is too large; the limit is {}", format_bytes(Bytes{kMaxDecisionBytes})));
  }
  Handler handler;
  const bool good = nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  if (!good || !handler.problem.empty()) return fail(ErrorCode::bad_data, handler.problem);
  if (!handler.versioned)
    return fail(ErrorCode::bad_data, "it is not a decisions file: \"millrace_decisions\" is missing");
  if (!handler.listed) return fail(ErrorCode::bad_data, "\"decisions\" is missing");
  return std::move(handler.decisions);
}

}  // namespace millrace::dedupe
