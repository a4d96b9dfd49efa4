// Input: a work folder that several runs may share, on one machine or on many.
// Output: the other runs that work in it, and the claims of each.
// Guarantees: needs no file locks. No output depends on it: two runs that take each other for dead repeat a shard.
//
// Some file systems keep locks within one node (BeeGFS and Lustre by default, NFS with nolock, sshfs). All of them
// share names and bytes.
//
// Each run keeps a file run-ID.live in the folder. It says on which machine and in which process the run works, and the
// run rewrites a number in it every `heartbeat`. A claim is a file that holds the ID of the run it belongs to. A run of
// the same boot of a machine is alive while its process is, or while the lock on its file is held. A run of an earlier
// boot is dead. A run of another machine is alive while its number changes. Once the number has not changed for
// `dead_after`, other runs may take its claims.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/file/directory_entry.h"

namespace millrace {

// Returns the name of this machine, as UTF-8.
std::string host_name();
// Returns host name, machine and boot, which distinguish machines of the same name.
std::string machine_name();

class RunPresence {
 public:
  struct Timing {
    std::chrono::milliseconds heartbeat{10'000}, dead_after{60'000};
  };
  // `shared`: a run that makes shards beside others; `alone`: a run that shares with none. `last`: a run that has made
  // its shards and wants to merge all.
  enum class Mode { shared, alone, last };
  // `folder` is open, and must stay so. Throws Failure if nothing can be written there.
  RunPresence(int folder, Mode mode, const Timing& timing);
  // Removes the run's file and its claims.
  ~RunPresence();
  RunPresence(const RunPresence&) = delete;
  RunPresence& operator=(const RunPresence&) = delete;

  enum class Others { none, live, unknown };
  // Looks for runs that this one cannot work beside. For `shared` those are runs that are not shared; for `last` all
  // but other `last` runs; for `alone` all. Files of dead runs are removed. `unknown`: a run of another machine was not
  // observed for long enough.
  Others find_others();
  // Waits until the answer is known, no longer than a bit over `dead_after`. `check_cancelled` as below.
  Others wait_for_others(const std::function<void()>& check_cancelled = {});
  // Describes another run for messages: "process 4711 on node12".
  std::string other() const;
  bool other_is_alone() const;

  // `taken`: another run that is alive has it; `unknown`: a run of another machine has it, and may be dead. Of several
  // runs that try at once one gets it.
  enum class Claim { mine, taken, unknown };
  Claim claim(const std::string& what);
  // Waits until the answer is known. `check_cancelled` is called meanwhile, and may throw.
  bool wait_and_claim(const std::string& what, const std::function<void()>& check_cancelled);
  void release_claim(const std::string& what);

  // Returns true for names of these files: they are no shards, and no output keeps them.
  static bool is_presence_file(const std::string& name);
  static bool is_claim(const std::string& name);
  static bool is_claim_of_shard(const std::string& name);

 private:
  struct Run;
  struct Seen {
    std::string number;
    std::chrono::steady_clock::time_point since;
    bool has_changed = false;  // since it was first seen
  };
  std::string name_of(const std::string& id) const;
  std::optional<Run> read(const std::string& name) const;
  Others state_of(const Run& run) MILLRACE_REQUIRES(runs_mutex_);
  void pause(const std::function<void()>& check_cancelled) const;
  void log_waiting() const;
  bool publish_file(const std::string& temporary);
  void write_heartbeat();
  void loop();
  std::string read_claim(const std::string& name) const;
  bool put_claim(const std::string& name, const std::optional<FileState>& dead) const;

  const int folder_;
  const Mode mode_;
  const Timing timing_;
  const std::string id_;
  Descriptor file_;
  std::uint64_t heartbeats_ = 0;
  Mutex mutex_;
  Condition stop_;
  bool stopping_ MILLRACE_GUARDED_BY(mutex_) = false;
  mutable Mutex runs_mutex_;
  std::map<std::string, Seen> seen_ MILLRACE_GUARDED_BY(runs_mutex_);  // by the run's ID
  std::string other_ MILLRACE_GUARDED_BY(runs_mutex_);
  bool other_is_alone_ MILLRACE_GUARDED_BY(runs_mutex_) = false;
  std::vector<std::string> claims_ MILLRACE_GUARDED_BY(runs_mutex_);
  std::thread thread_;
};

}  // namespace millrace
