// Input: a work folder that several runs may share, on one machine or on many.
// Output: which other runs are at work in it, and which of them has claimed what.
// Guarantees: locks are not needed. Some file systems keep locks within one node (BeeGFS and Lustre by default, NFS
// with
//   nolock, sshfs); names and bytes they all share. No output depends on it: two runs that take each other for dead
//   make the same shard twice.
//
// Each run keeps a file run-ID.live in the folder, which says on which machine and in which process it works, and
// rewrites a number in it every `beat`. A claim is a file that holds the ID of the run it belongs to. A run of the same
// boot of a machine is alive as long as its process is, or it holds the lock on its own file; one of an earlier boot is
// dead. A run of another machine is alive while its number changes; once it has not changed for `dead_after`, what it
// has claimed is taken over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/io/file/place.h"

namespace millrace {

// The name of this machine, as UTF-8.
std::string host_name();
// Host name, machine and boot: tells machines of one name apart.
std::string machine_name();

class RunPresence {
 public:
  struct Timing {
    std::chrono::milliseconds beat{10'000}, dead_after{60'000};
  };
  // A run that makes shards beside others; one that shares with none; one that has made its shards and would like to
  // put all together.
  enum class Mode { shared, alone, last };
  // `folder` is open, and stays so. Throws Failure where nothing can be written there.
  RunPresence(int folder, Mode mode, const Timing& timing);
  // Its file goes, and what it has claimed.
  ~RunPresence();
  RunPresence(const RunPresence&) = delete;
  RunPresence& operator=(const RunPresence&) = delete;

  enum class Others { none, live, unknown };
  // Runs that this one cannot work beside: for a shared one those that are not shared; for the last one all but others
  // that would like to be the last; for one alone all. Files of dead ones go. `unknown`: a run of another machine was
  // not looked at for long enough.
  Others others();
  // Looks until it is known, no longer than a bit over `dead_after`. `go_on` as below.
  Others wait_for_others(const std::function<void()>& go_on = {});
  // Who another run is, for messages: "process 4711 on node12".
  const std::string& other() const { return other_; }
  bool other_is_alone() const { return other_is_alone_; }

  // `taken`: another run that is alive has it; `unknown`: one of another machine, which may be dead. Of several runs
  // that try at once one gets it.
  enum class Claim { mine, taken, unknown };
  Claim claim(const std::string& what);
  // Looks until it is known. `go_on` is asked meanwhile, and may throw.
  bool claim_when_known(const std::string& what, const std::function<void()>& go_on);
  void unclaim(const std::string& what);

  // A name that a run makes for this: no shard, and nothing that an output keeps.
  static bool is_name(const std::string& name);
  static bool is_claim(const std::string& name);
  static bool is_claim_of_shard(const std::string& name);

 private:
  struct Run;
  struct Seen {
    std::string number;
    std::chrono::steady_clock::time_point since;
    bool has_changed = false;  // since it was seen first
  };
  std::string name_of(const std::string& id) const;
  std::optional<Run> read(const std::string& name) const;
  Others state_of(const Run& run);
  void pause(const std::function<void()>& go_on) const;
  void say_that_it_waits() const;
  bool put_in_place(const std::string& temporary);
  void write_beat();
  void loop();
  std::string read_claim(const std::string& name) const;
  bool put_claim(const std::string& name, const std::optional<FileState>& dead) const;

  const int folder_;
  const Mode mode_;
  const Timing timing_;
  const std::string id_;
  Descriptor file_;
  std::uint64_t beats_ = 0;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::mutex looking_;                // guards what follows
  std::map<std::string, Seen> seen_;  // by the run's ID
  std::string other_;
  bool other_is_alone_ = false;
  std::vector<std::string> claims_;
  std::thread thread_;
};

}  // namespace millrace
