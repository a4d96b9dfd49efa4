// Input: the command line of `millrace dedupe`.
// Output: checked options.
// Never: touches a file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/hash/hash.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::dedupe {

// Largest distance of one 64-bit hash kind, as in "dhash<=5".
struct RuleTerm {
  HashKind kind;
  int radius;
};

// Rule for candidate pairs: one alternative must hold in all its terms. With `middle`, the whole of one picture is also
// compared with the middle of the other (its hashes without a twentieth of each side). So a crop or a border is found.
struct MatchRule {
  std::vector<std::vector<RuleTerm>> alternatives;
  bool middle = false;
  std::string text;
};

// Parses "auto", or terms joined by commas, with alternatives joined by "|": "dhash<=5,ahash<=5". Throws Failure(usage)
// with the reason. `verified` selects what "auto" means: a permissive rule whose pairs are verified, or a strict rule
// that decides by itself. `pictures` is the number of pictures searched. Beyond a million the permissive rule becomes
// tighter, so that it proposes few pairs per picture (numbers and losses: docs/design/similarity.md). Each tighter rule
// proposes a subset of the one before.
MatchRule parse_rule(const std::string& text, bool verified, std::uint64_t pictures = 0);

// Hash kinds of 8 x 8 bits that the catalog keeps of every picture: the first of CatalogPicture::codes.
inline constexpr std::array<HashKind, 4> kCatalogCodes = {HashKind::dhash, HashKind::ahash, HashKind::dhash_vertical,
                                                          HashKind::phash};

// Criteria of the keep rule, in the order of comparison.
inline constexpr const char* kKeepOrder =
    "reference,whole,held,preferred,raw,original,pixels,given,bytes,exif,oldest,shortest";

// Evidence required to suggest a removal: a match in the detailed check, or equal bytes.
enum class CheckMode : std::uint8_t { close, thumbnail };
constexpr std::array<Choice<CheckMode>, 2> choices_of(CheckMode) {
  return {{{"close", CheckMode::close}, {"thumbnail", CheckMode::thumbnail}}};
}
// Linkage of groups: every member matches every other, or chains of matches are enough.
enum class GroupMode : std::uint8_t { tight, connected };
constexpr std::array<Choice<GroupMode>, 2> choices_of(GroupMode) {
  return {{{"tight", GroupMode::tight}, {"connected", GroupMode::connected}}};
}
// Treatment of bursts: shots of a burst are never grouped, or are grouped like any pictures.
enum class BurstMode : std::uint8_t { keep_apart, join };
constexpr std::array<Choice<BurstMode>, 2> choices_of(BurstMode) {
  return {{{"keep-apart", BurstMode::keep_apart}, {"join", BurstMode::join}}};
}

// Pairs that are allowed: any two files, only two of one album, or only two of different albums (scan/albums.h).
enum class PairMode : std::uint8_t { any, within, across };
constexpr std::array<Choice<PairMode>, 3> choices_of(PairMode) {
  return {{{"any", PairMode::any}, {"within", PairMode::within}, {"across", PairMode::across}}};
}

// Part of a search to run: all of it, or one stage, whose output many machines write in shards.
enum class SearchStage : std::uint8_t { all, read, compare, check };
constexpr std::array<Choice<SearchStage>, 4> choices_of(SearchStage) {
  return {{{"all", SearchStage::all},
           {"read", SearchStage::read},
           {"compare", SearchStage::compare},
           {"look", SearchStage::check}}};
}

// Options that convert gray samples of more than 8 bits as a viewer would. Otherwise scans of different pages become
// one white picture.
inline PictureFileOptions make_scaled_gray_options() {
  PictureFileOptions out;
  out.wide_gray = true;
  return out;
}

struct DedupeOptions {
  std::vector<std::string> folders;
  bool all_files = false;  // also files without a picture extension
  std::string catalog;     // empty: the default path
  std::string match = "auto";
  bool verify = true;
  CheckMode check = CheckMode::close;
  GroupMode group = GroupMode::tight;
  bool crops = true;         // also find crops, framed pictures, screenshots
  bool orientations = true;  // also find rotated and mirrored copies
  BurstMode bursts = BurstMode::keep_apart;
  PairMode pairs = PairMode::any;
  std::vector<std::string> reference;
  std::vector<std::string> prefer;  // globs of preferred files, in the order of preference
  std::string keep = kKeepOrder;
  PictureFileOptions files = make_scaled_gray_options();
  Bytes min_size{1};
  std::string report, csv;
  std::string inventory;          // list of files, instead of walking the folders
  std::vector<std::string> from;  // outputs of stages to import
  SearchStage stage = SearchStage::all;
  std::string output;   // folder that a stage writes
  long long shard = 0;  // items per shard; 0: the default of the stage
  ShardSpec share;
  bool retry = false;        // try again to read files that failed before
  bool trust_files = false;  // see src/io/file/trusted_file.h
};

// Returns the number of files (read stage) or of sets (look stage) per shard.
constexpr std::uint64_t compute_shard_size(const DedupeOptions& options) {
  // That many files take some seconds, that many sets half a minute.
  constexpr std::uint64_t kFiles = 256, kSets = 32;
  if (options.shard > 0) return static_cast<std::uint64_t>(options.shard);
  return options.stage == SearchStage::check ? kSets : kFiles;
}

// Help text of --trust-files, for every command that has it.
inline constexpr const char* kTrustFilesHelp =
    "skip the ownership check of catalog and journal (for FAT and some network drives)";

void describe(Settings& settings, DedupeOptions& options);
// Describes the options that select files and control the catalog.
void describe_files(Settings& settings, DedupeOptions& options);

// Parses and checks the criteria of `--keep`. If they do not name `preferred`, --prefer counts before all criteria
// except `reference` and `whole`.
std::vector<std::string> parse_keep_criteria(const std::string& text);

}  // namespace millrace::dedupe
