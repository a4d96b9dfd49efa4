// Input: the name of an output.
// Output: the folder beside it for its shards, held by a descriptor; and which run works in it, at which shard.
// Never: works in another user's folder, or in another folder that has taken its name.
//
// Anybody can guess the names in the folder, so a run works only where nobody else can put a link under one of
// them. It reaches the folder, and the one above, by descriptors: whoever may exchange folders beside the output cannot
// lead a run elsewhere.
//
// Locks on bytes of a file in the folder show who works in it. The system releases them when a process ends, however it
// ends. They hold across machines where the file system's locks do. Byte 0 is held by all runs that share the folder,
// or by one alone. Byte 1 + k is held by the run that makes shard k. Where locks are local to a node, files beside it
// show the runs (run_presence.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/io/file/atomic_file.h"
#include "src/io/file/directory_entry.h"
#include "src/pipeline/checkpoint/run_presence.h"

namespace millrace {

class RunFolder {
 public:
  // `output` may end with a slash. Opens nothing.
  explicit RunFolder(const std::string& output, const RunPresence::Timing& timing = {});

  // Returns the folder for OUTPUT.shards, which may be named without that ending.
  static RunFolder from_shards_folder(const std::string& folder);

  // Names as the user wrote them, for messages. name() is OUTPUT.shards.
  const std::string& output() const { return output_; }
  const std::string& name() const { return name_; }
  // Paths of the folder and of a file in it, for opening: through the descriptor once that is held, by name until then.
  const std::string& path() const { return at_; }
  std::string path(std::string_view file) const;
  // Returns a failure with names in it that the user knows.
  Error restore_user_paths(Error error) const;

  static constexpr const char* kLock = "run.lock";
  // Provenance of the shards. As long as this file is missing, there are no shards.
  static constexpr const char* kRunFile = "run.json";
  // `alone` keeps all other runs out; `shared` keeps out runs that hold it alone.
  enum class Hold : std::uint8_t { alone, shared };
  // Treatment of a missing folder: it is made, or Failure(not_found).
  enum class Missing : std::uint8_t { make, refuse };
  // Opens the folder and holds it until this object is destroyed. Failure(conflict) if it belongs to another user,
  // another run is in it, or it has files that no run makes. It is then left as it was. Failure(not_found) if the
  // folder above is missing. `check_cancelled` is called while another machine's run is waited for, and may throw.
  void hold(Hold how, Missing missing = Missing::make, const std::function<void()>& check_cancelled = {});
  // Releases the folder.
  void release_hold();
  // Holds it alone after that; false if another run has it.
  bool hold_alone(const std::function<void()>& check_cancelled = {});
  // Claims shard k for this run until release_claim(); false if it is another run's, or may be.
  bool claim(std::uint64_t k);
  // Claims in the same way, once it is known whether a run of another machine is alive. `check_cancelled` is called
  // meanwhile, and may throw.
  bool wait_and_claim(std::uint64_t k, const std::function<void()>& check_cancelled);
  void release_claim(std::uint64_t k);
  // Holds a folder that a previous run may have left. Returns false, without a message, if there is none or it cannot
  // be held.
  bool hold_leftover();
  // Removes names and files of killed runs from a folder that is kept. Does nothing if another run is in it.
  void remove_stale_files();
  // Returns true if the name still belongs to the folder that is held.
  bool has_its_name() const;
  // Removes the lock, which no run needs any more.
  void remove_lock() const;
  // Releases a folder that is not for this run, as it was found.
  void abandon();
  // Removes the folder and all in it. run.json is removed last: the files beside it are ours.
  void remove();
  // Removes files that a run was writing when it was killed. The folder is held alone.
  void remove_stale_temporaries() const;
  // Removes the folder if there is nothing in it but its lock.
  void remove_if_empty();

  // Gives a file or folder in it the output's name, which must be free, or belong to a file or folder that
  // `replaces` allows. That one then has the name in here, or is gone. Failure(conflict) if the name is taken.
  void publish(const std::string& name, const OverwritePolicy& replaces);

 private:
  bool open_parent();
  bool open_folder();
  bool open_to_lock(Missing missing);
  void check_folder() const;
  bool open_lock();
  bool is_lock_named() const;
  bool try_lock(std::uint64_t byte) const;
  bool lock(short kind, std::uint64_t byte) const;
  void close_folder();
  void sync_parent() const;

  bool announce_run(RunPresence::Mode mode);
  bool is_only_run(Hold how, const std::function<void()>& check_cancelled);

  const std::string output_, name_;
  const RunPresence::Timing timing_;
  std::string at_;
  Descriptor parent_, folder_, lock_;
  bool made_lock_ = false;
  std::unique_ptr<RunPresence> presence_;  // destroyed before the folder that its file is in
};

}  // namespace millrace
