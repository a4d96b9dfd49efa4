#include "src/jobs/dedupe/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/base/text.h"

namespace millrace::dedupe {
namespace {

RuleTerm parse_term(std::string_view text) {
  const auto fail = [&](const std::string& why, const std::string& remedy = "write for example dhash<=5,ahash<=5") {
    return Failure(ErrorCode::usage, fmt::format("'{}' is not a term of a rule: {}", text, why), "--match", remedy);
  };
  constexpr const char* kKinds = "dhash, ahash, dhash_vertical and phash";
  const std::size_t at = text.find("<=");
  if (at == std::string_view::npos) throw fail("it has no <=");
  const auto kind = find_hash_kind(trim(text.substr(0, at)));
  if (!kind) throw fail(fmt::format("the kinds are {}", kKinds));
  if (std::find(kCatalogCodes.begin(), kCatalogCodes.end(), *kind) == kCatalogCodes.end()) {
    throw fail(fmt::format("the catalogue does not keep {}: it keeps {}", name_of(*kind), kKinds),
               fmt::format("use one of those; millrace hash --kinds {} computes {}", name_of(*kind), name_of(*kind)));
  }
  const std::string_view number = trim(text.substr(at + 2));
  int radius = 0;
  const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), radius);
  if (ec != std::errc{} || end != number.data() + number.size() || radius < 0 || radius > 64) {
    throw fail("the distance is a whole number from 0 to 64");
  }
  return {*kind, radius};
}

constexpr const char* kPreferred = "preferred";

// Rules of `auto` by the number of pictures. Pairs of unrelated pictures grow with the square of that number, versions
// do not. Two hashes that must both be near lose fewer versions than one that must be nearer. A rule tighter than the
// last would lose more than half of the versions.
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
  // The permissive rule and its measured recall are in docs/dedupe.md; the strict rule decides by itself.
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
      throw Failure(ErrorCode::usage, fmt::format("'{}' is not a criterion", name), "--keep",
                    fmt::format("use some of {}", kKeepOrder));
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
  settings.set_heading("Finding");
  settings.add_parsed("match", "RULE", "which pairs are looked at: auto, or hash distances such as dhash<=5,ahash<=5",
                      "auto", [&options](const std::string& text) {
                        parse_rule(text, true);
                        options.match = text;
                      });
  settings.add_switch("verify", "look at the pixels of every candidate; --no-verify links on the rule itself",
                      options.verify);
  settings.add_choice("look", "close: only what a close look calls the same is suggested; thumbnail: only equal files",
                      options.check);
  settings.add_choice("group", "tight: everyone in a group matches everyone; connected: chains of matches too",
                      options.group);
  settings.add_switch("parts",
                      "also find crops down to 70 %, what a frame or a blurred border encloses, and screenshots",
                      options.crops);
  settings.add_switch("orientations", "also find turned and mirrored copies", options.orientations);
  settings.add_choice("bursts", "never group different shots of a burst, or treat them like any pictures",
                      options.bursts);
  settings.add_choice("pairs",
                      "any two pictures; within: of one folder; across: of two. Folders are those that are named, or "
                      "those in the only one that is named",
                      options.pairs);
  settings.set_heading("Keeping");
  settings.add_list("reference", "DIR", "also scan this folder; nothing in it is ever suggested for removal",
                    options.reference);
  settings.add_list(
      "prefer", "GLOB",
      "what matches, or lies in a folder that does, stays rather than what does not; the first of several counts "
      "most",
      options.prefer);
  settings.add_parsed("keep", "CRITERION,...", "what decides which copy stays, first to last", kKeepOrder,
                      [&options](const std::string& text) {
                        parse_keep_criteria(text);
                        options.keep = text;
                      });
  describe_files(settings, options);
  settings.set_heading("Results");
  settings.add_text("report", "FILE.html", "write a page to look through and decide", options.report);
  settings.add_text("csv", "FILE", "write a line a file; - is stdout", options.csv);
  settings.set_heading("Parts");
  settings.add_choice(
      "stage",
      "all of a search; read: only read the pictures; compare: only find those that look alike; look: only look "
      "closely at these; each into OUTPUT, which --from takes",
      options.stage);
  settings.add_text("output", "FOLDER", "what a stage makes, in shards that a later run goes on with", options.output);
  settings.add_integer(
      "shard", "N", "files, pictures or sets that look alike of a shard; 0: 256 files, about 16,384 pictures, 32 sets",
      options.shard, 0, 1'000'000);
  describe(settings, options.share);
  settings.add_list("from", "FOLDER", "what a stage has made, to be taken into the catalogue", options.from);
  settings.add_text("inventory", "FILE.jsonl", "what millrace inventory has listed, instead of walking DIR",
                    options.inventory);
}

void describe_files(Settings& settings, DedupeOptions& options) {
  settings.set_heading("Files");
  settings.add_text("catalog", "FILE", "where results are kept between runs; by default in your data folder",
                    options.catalog);
  settings.add_consent("trust-files", kTrustFilesHelp, options.trust_files);
  settings.add_switch("retry", "try again what an earlier run could not read", options.retry);
  settings.add_bytes("min-size", "leave out smaller files", options.min_size);
  settings.add_switch("all-files", "also files whose name has no picture's extension, if they begin as pictures do",
                      options.all_files);
  describe(settings, options.files);
}

}  // namespace millrace::dedupe
