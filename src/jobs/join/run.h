// Input: a .npy file of codes (uint64 [n], uint8 [n, 8] or uint8 [n, 32]) and a radius.
// Output: every pair of rows within the radius, exactly, in a .npy file, and their number.
// Never: holds the pairs of rows in memory; they are streamed to disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/output/output.h"
#include "src/jobs/job.h"
#include "src/jobs/join/code_file.h"
#include "src/jobs/join/options.h"

namespace millrace::join {

struct JoinSummary {
  std::uint64_t rows = 0;
  std::uint64_t nodes = 0;            // different codes
  std::uint64_t pairs = 0;            // pairs of rows within the radius, including those of equal codes
  std::uint64_t collapsed_pairs = 0;  // pairs of nodes
  int bits = 64;
  std::string algorithm;  // "brute" or "index"
  std::string why;
  std::string pairs_file, nodes_file;  // files that were written; may be empty
  double join_seconds = 0;             // from codes in memory to sorted pairs of nodes
  double seconds = 0;                  // total time
  double rows_per_second = 0;          // rows / join_seconds
  double pairs_per_second = 0;         // pairs of rows, matching or not, / join_seconds
  // The following members are set if the codes are joined in blocks.
  std::uint64_t block = 0, blocks = 0, tasks = 0, tasks_done = 0;
  bool published = true;
  bool already_complete = false;       // the output was already complete
  std::vector<std::uint64_t> missing;  // tasks that are missing if the output was not published
};

// Outputs for the pairs and, with --collapsed, for the nodes; both are empty if pairs are only counted.
struct JoinOutputs {
  OutputTarget pairs, nodes;
};

// Joins the codes. Without an output pairs are only counted, and not stored. Throws Failure(io) before writing if the
// disk has too little room. An OutOfMemory gives the approximate number of pairs and their memory.
JoinSummary run(const Options& options, const JoinOutputs& files, RunContext& context);

// Estimates the number of pairs, and their memory, time and size on disk, from a sample of the codes.
Plan plan(const Options& options, const JoinOutputs& files, RunContext& context);

// Calls hamming::self_join(). Its OutOfMemory gives the approximate number of pairs, and `remedy`.
template <typename Code>
hamming::JoinResult self_join(std::span<const Code> codes, const hamming::Options& wanted, const Engines& engines,
                              Budget& budget, const char* remedy);

// Throws Failure(usage) unless a radius was given that fits the file format.
void check_radius(const Options& options);
// Returns the options of the join kernels.
hamming::Options make_hamming_options(const Options& options);
// Formats an estimated number for a plan.
std::uint64_t round_count(double count);
std::string describe_count(double count);

// Appends pairs to `rows` in the file format, 9 bytes each.
void append_pair_rows(std::span<const hamming::HammingPair> pairs, std::vector<std::uint8_t>& rows);

// Returns "out.nodes.npy" for "out.npy".
std::string nodes_path(const std::string& pairs_path);

}  // namespace millrace::join
