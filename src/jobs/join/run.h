// Input: a .npy file of codes (uint64 [n], uint8 [n, 8] or uint8 [n, 32]) and a radius.
// Output: every pair of rows within the radius in a .npy file, exactly, and the count.
// Never: holds the pairs of rows in memory; they stream to disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/output/output.h"
#include "src/jobs/job.h"
#include "src/jobs/join/code_file.h"
#include "src/jobs/join/options.h"

namespace millrace::join {

struct Summary {
  std::uint64_t rows = 0;
  std::uint64_t nodes = 0;            // different codes
  std::uint64_t pairs = 0;            // pairs of rows within the radius, those of equal codes included
  std::uint64_t collapsed_pairs = 0;  // pairs of nodes
  int bits = 64;
  std::string algorithm;  // "brute" or "index"
  std::string why;
  std::string pairs_file, nodes_file;  // what was written; may be empty
  double join_seconds = 0;             // codes in memory to sorted pairs of nodes
  double seconds = 0;                  // everything
  double rows_per_second = 0;          // rows / join_seconds
  double pairs_per_second = 0;         // all pairs of rows decided / join_seconds
  // In blocks:
  std::uint64_t block = 0, blocks = 0, tasks = 0, tasks_here = 0;
  bool published = true;
  bool before = false;                 // it was whole already
  std::vector<std::uint64_t> missing;  // tasks, where it was not published
};

// Where the pairs and, of collapsed ones, the nodes go; none to only count.
struct Files {
  Output pairs, nodes;
};

// Without an output pairs are counted and held nowhere. Failure(io) before anything is written where there is no room
// for it; OutOfMemory says how many pairs there are, about, and what they take.
Summary run(const Options& options, const Files& files, RunContext& context);

// How many pairs there will be, about, and what they take, from a sample of the codes.
Plan plan(const Options& options, const Files& files, RunContext& context);

// hamming::self_join(), whose OutOfMemory says how many pairs there are, about, and `remedy`.
template <typename Code>
hamming::Joined self_join(std::span<const Code> codes, const hamming::Options& wanted, const Engines& engines,
                          Budget& budget, const char* remedy);

// A radius that was given, and that a file has room for; Failure(usage) else.
void check_radius(const Options& options);
// What the join itself is told.
hamming::Options options_of(const Options& options);
// For a plan.
std::uint64_t whole(double count);
std::string about(double count);

// Pairs as a file has them, 9 bytes each.
void put_rows(std::span<const hamming::Pair> pairs, std::vector<std::uint8_t>& rows);

// "out.nodes.npy" for "out.npy".
std::string nodes_path(const std::string& pairs_path);

}  // namespace millrace::join
