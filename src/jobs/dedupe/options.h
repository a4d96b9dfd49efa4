// Input: what a person asks of `millrace dedupe`.
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
#include "src/pipeline/checkpoint/share.h"

namespace millrace::dedupe {

// "dhash<=5": the distance of one hash kind of 64 bits.
struct RuleTerm {
  HashKind kind;
  int radius;
};

// A pair is a candidate when one alternative holds in all its terms. With `middle`, the whole of one picture also meets
// the middle of the other (its hashes without a twentieth of each side), so that a crop or a border is found.
struct Rule {
  std::vector<std::vector<RuleTerm>> alternatives;
  bool middle = false;
  std::string text;
};

// "auto", or terms joined by commas, alternatives by "|": "dhash<=5,ahash<=5". Failure(usage) with the reason.
// `verified` tells what "auto" means: a permissive rule whose pairs are looked at, or one that decides by itself.
// With `pictures` it also tells how many are searched: beyond a million the permissive rule tightens, so that the pairs
// that it proposes stay few a picture (docs/performance.md: how many, and what that loses). Each is a part of the one
// before.
Rule parse_rule(const std::string& text, bool verified, std::uint64_t pictures = 0);

// The hash kinds that the catalogue keeps of every picture, 8 x 8 bits each: the first of CatalogPicture::codes.
inline constexpr std::array<HashKind, 4> kCatalogCodes = {HashKind::dhash, HashKind::ahash, HashKind::dhash_vertical,
                                                          HashKind::phash};

// The keep rule's criteria, in the order in which they are asked.
inline constexpr const char* kKeepOrder =
    "reference,whole,held,preferred,raw,original,pixels,given,bytes,exif,oldest,shortest";

// Only what a close look calls the same is suggested; or only equal files.
enum class LookMode : std::uint8_t { close, thumbnail };
constexpr std::array<Choice<LookMode>, 2> choices_of(LookMode) {
  return {{{"close", LookMode::close}, {"thumbnail", LookMode::thumbnail}}};
}
// Everyone in a group matches everyone; or chains of matches too.
enum class GroupMode : std::uint8_t { tight, connected };
constexpr std::array<Choice<GroupMode>, 2> choices_of(GroupMode) {
  return {{{"tight", GroupMode::tight}, {"connected", GroupMode::connected}}};
}
// Shots of a burst are never grouped; or are like any pictures.
enum class BurstMode : std::uint8_t { keep_apart, join };
constexpr std::array<Choice<BurstMode>, 2> choices_of(BurstMode) {
  return {{{"keep-apart", BurstMode::keep_apart}, {"join", BurstMode::join}}};
}

// Which files may be a pair: any two; two of one album, or of two (scan/albums.h).
enum class PairMode : std::uint8_t { any, within, across };
constexpr std::array<Choice<PairMode>, 3> choices_of(PairMode) {
  return {{{"any", PairMode::any}, {"within", PairMode::within}, {"across", PairMode::across}}};
}

// All that a search is; or one stage of it, whose output many machines make in parts.
enum class Stage : std::uint8_t { all, read, compare, look };
constexpr std::array<Choice<Stage>, 4> choices_of(Stage) {
  return {{{"all", Stage::all}, {"read", Stage::read}, {"compare", Stage::compare}, {"look", Stage::look}}};
}

// Wide grays as a person sees them: two scans of different pages do not become one white picture.
inline PictureFileOptions scaled_pictures() {
  PictureFileOptions out;
  out.wide_gray = true;
  return out;
}

struct Options {
  std::vector<std::string> folders;
  bool all_files = false;  // also those whose names are no picture's
  std::string catalog;     // empty: the default place
  std::string match = "auto";
  bool verify = true;
  LookMode look = LookMode::close;
  GroupMode group = GroupMode::tight;
  bool parts = true;         // crops, framed pictures, screenshots
  bool orientations = true;  // turned and mirrored
  BurstMode bursts = BurstMode::keep_apart;
  PairMode pairs = PairMode::any;
  std::vector<std::string> reference;
  std::vector<std::string> prefer;  // globs: what stays rather than others, the first pattern before the next
  std::string keep = kKeepOrder;
  PictureFileOptions files = scaled_pictures();
  Bytes min_size{1};
  std::string report, csv;
  std::string inventory;          // instead of walking the folders
  std::vector<std::string> from;  // what stages have made
  Stage stage = Stage::all;
  std::string output;   // a stage's
  long long shard = 0;  // 0: what suits the stage
  Share share;
  bool retry = false;        // what could not be read before is tried again
  bool trust_files = false;  // see src/io/file/own.h
};

// Of the stages that read and look: files, or sets.
constexpr std::uint64_t pictures_of_shard(const Options& options) {
  // Of files some seconds of work, of sets half a minute.
  constexpr std::uint64_t kFiles = 256, kSets = 32;
  if (options.shard > 0) return static_cast<std::uint64_t>(options.shard);
  return options.stage == Stage::look ? kSets : kFiles;
}

// What --trust-files says, in every command that has it.
inline constexpr const char* kTrustFilesHelp =
    "believe the catalogue and the journal where the file system has no owners and modes (FAT, some network drives)";

void describe(Settings& settings, Options& options);
// Of these, which files are read and what is kept of them.
void describe_files(Settings& settings, Options& options);

// The criteria of `--keep`, checked. Where they do not name `preferred`, --prefer counts before all but references and
// what is whole.
std::vector<std::string> keep_criteria(const std::string& text);

}  // namespace millrace::dedupe
