#include "src/jobs/dedupe/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

RuleTerm parse_term(std::string_view text) {
  const auto fail = [&](const std::string& why, const std::string& remedy = "write, for example, dhash<=5,ahash<=5") {
    return Failure(ErrorCode::usage, fmt::format("'{}' is not a valid term of a match rule: {}", text, why), "--match",
                   remedy);
  };
  constexpr const char* kKinds = "dhash, ahash, dhash_vertical and phash";
  const std::size_t at = text.find("<=");
  if (at == std::string_view::npos) throw fail("<= is missing");
  const auto kind = find_hash_kind(trim(text.substr(0, at)));
  if (!kind) throw fail(fmt::format("expected one of {}", kKinds));
  if (std::find(kCatalogCodes.begin(), kCatalogCodes.end(), *kind) == kCatalogCodes.end()) {
    throw fail(fmt::format("the catalog stores no {}, only {}", name_of(*kind), kKinds),
               fmt::format("use one of those; millrace hash --kinds {} computes {}", name_of(*kind), name_of(*kind)));
  }
  const std::string_view number = trim(text.substr(at + 2));
  int radius = 0;
  const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), radius);
  if (ec != std::errc{} || end != number.data() + number.size() || radius < 0 || radius > 64) {
    throw fail("the distance must be a whole number from 0 to 64");
  }
  return {*kind, radius};
}

constexpr const char* kPreferred = "preferred";

// Rules of `auto` by the number of pictures. Pairs of unrelated pictures grow with the square of that number, versions
// do not. Two hashes that must both be near lose fewer versions than one that must be nearer. A rule tighter than the
// last would lose more than half of the versions. docs/design/similarity.md gives the figures.
struct Permissive {
  std::uint64_t up_to;
  const char* rule;
};
constexpr std::array<Permissive, 5> kPermissive = {{{1'000'000, "phash<=8|dhash<=8,phash<=18"},
                                                    {1'500'000, "phash<=8,dhash<=14|dhash<=8,phash<=14"},
                                                    {2'500'000, "phash<=8,dhash<=11|dhash<=8,phash<=11"},
                                                    {10'000'000, "phash<=8,dhash<=8"},
                                                    {UINT64_MAX, "phash<=6,dhash<=6"}}};
const char* permissive_rule(std::uint64_t pictures) {
  const auto at = std::find_if(kPermissive.begin(), kPermissive.end(),
                               [&](const Permissive& one) { return pictures <= one.up_to; });
  return at->rule;
}

}  // namespace

MatchRule parse_rule(const std::string& text, bool verified, std::uint64_t pictures) {
  MatchRule rule;
  rule.text = text;
  // The permissive rule and its measured recall are in docs/design/similarity.md; the strict rule decides by itself.
  if (text == "auto") {
    rule.text = verified ? permissive_rule(pictures) : "dhash<=5,ahash<=5";
    rule.middle = verified;
  }
  for (const std::string& alternative : split(rule.text, '|')) {
    std::vector<RuleTerm> terms;
    for (const std::string& term : split(alternative, ',')) terms.push_back(parse_term(term));
    rule.alternatives.push_back(std::move(terms));
  }
  return rule;
}

std::vector<std::string> parse_keep_criteria(const std::string& text) {
  const std::vector<std::string> known = split(kKeepOrder, ',');
  std::vector<std::string> criteria;
  for (const std::string& part : split(text, ',')) {
    const std::string name(trim(part));
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not a criterion for keeping a copy", name), "--keep",
                    fmt::format("use any of {}", kKeepOrder));
    }
    criteria.push_back(name);
  }
  if (std::find(criteria.begin(), criteria.end(), kPreferred) == criteria.end()) {
    const auto later = std::find_if(criteria.begin(), criteria.end(),
                                    [](const std::string& name) { return name != "reference" && name != "whole"; });
    criteria.insert(later, kPreferred);
  }
  return criteria;
}

void describe(Settings& settings, DedupeOptions& options) {
  settings.set_heading("Search");
  settings.add_parsed("match", "RULE", "select the pairs to compare: auto, or hash distances such as dhash<=5,ahash<=5",
                      "auto", [&options](const std::string& text) {
                        parse_rule(text, true);
                        options.match = text;
                      });
  settings.add_switch("verify", "compare the pixels of every pair; --no-verify matches by the hashes of --match alone",
                      options.verify);
  settings.add_choice("look", "suggest removal after a detailed check (close), or only of identical files (thumbnail)",
                      options.check);
  settings.add_choice("group",
                      "require that all pictures of a group match each other (tight), or follow chains (connected)",
                      options.group);
  settings.add_switch("parts",
                      "also find crops down to 70 %, pictures within a frame or blurred border, and screenshots",
                      options.crops);
  settings.add_switch("orientations", "also find rotated and mirrored copies", options.orientations);
  settings.add_choice("bursts", "never group different shots of a burst (keep-apart), or allow it (join)",
                      options.bursts);
  settings.add_choice("pairs", "compare all pictures (any), only within one DIR (within), or only across DIRs (across)",
                      options.pairs);
  settings.set_heading("Which copy is kept");
  settings.add_list("reference", "DIR", "also scan this folder; never suggest a file in it for removal",
                    options.reference);
  settings.add_list("prefer", "GLOB",
                    "prefer to keep files in this folder or matching this pattern; repeat for a second choice",
                    options.prefer);
  settings.add_parsed("keep", "CRITERION,...", "set the criteria for the copy to keep, most important first",
                      kKeepOrder, [&options](const std::string& text) {
                        parse_keep_criteria(text);
                        options.keep = text;
                      });
  describe_files(settings, options);
  settings.set_heading("Results");
  settings.add_text("report", "FILE.html", "write an HTML page for reviewing the groups and deciding", options.report);
  settings.add_text("csv", "FILE", "write a table with one line per file; - is stdout", options.csv);
  settings.set_heading("Stages and shards");
  settings.add_choice("stage", "run all, or one stage into OUTPUT for --from: read, compare, or look (detailed checks)",
                      options.stage);
  settings.add_text("output", "FOLDER", "write the shards of a stage to this folder; a later run resumes with them",
                    options.output);
  settings.add_integer("shard", "N",
                       "set the size of a shard; 0: 256 files (read), about 16,384 pictures (compare), 32 sets (look)",
                       options.shard, 0, 1'000'000);
  describe(settings, options.share);
  settings.add_list("from", "FOLDER", "import the output of a stage into the catalog; may be repeated", options.from);
  settings.add_text("inventory", "FILE.jsonl", "use the file list of millrace inventory instead of walking DIR",
                    options.inventory);
}

void describe_files(Settings& settings, DedupeOptions& options) {
  settings.set_heading("Files");
  settings.add_text("catalog", "FILE", "keep results between runs in this file (default: in your data folder)",
                    options.catalog);
  settings.add_consent("trust-files", kTrustFilesHelp, options.trust_files);
  settings.add_switch("retry", "try again to read files that an earlier run could not read", options.retry);
  settings.add_bytes("min-size", "skip smaller files", options.min_size);
  settings.add_switch("all-files",
                      "also read files without a picture extension, if their first bytes are those of a picture",
                      options.all_files);
  describe(settings, options.files);
}

}  // namespace millrace::dedupe
