// Input: an output's name.
// Output: the folder beside it where its parts are made, held by a descriptor, as is the folder that both lie in; and
//   which run works in it, and at which part.
// Never: works in a folder of somebody else's, or in what has the folder's name by now.
//
// The names in it are known to everybody: it is worked in only where nobody else can put a link under one of them, and
// reached by its descriptor, so that whoever may exchange folders beside the output cannot lead a run elsewhere.
//
// Who works in it is told by locks on bytes of a file in it, which the system gives back when a process ends, however
// it ends, and which hold across machines where the file system's do: byte 0 is held by all runs that share the folder,
// or by one alone; byte 1 + k by who makes part k. Where locks are a node's own, files beside it tell (run_presence.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/io/file/atomic_file.h"
#include "src/io/file/place.h"
#include "src/pipeline/checkpoint/run_presence.h"

namespace millrace {

class RunFolder {
 public:
  // Of OUTPUT, which may end with a slash. Opens nothing.
  explicit RunFolder(const std::string& output, const RunPresence::Timing& timing = {});

  // OUTPUT.shards itself is named, with or without that end.
  static RunFolder of_parts(const std::string& folder);

  // Both as a person wrote them, for messages. The folder's is OUTPUT.shards.
  const std::string& output() const { return output_; }
  const std::string& name() const { return name_; }
  // It, and what is in it, for opening: through the descriptor once that is held, by name until then.
  const std::string& path() const { return at_; }
  std::string path(std::string_view file) const;
  // A failure, with names in it that a person knows.
  Error in_words(Error error) const;

  static constexpr const char* kLock = "run.lock";
  // What its parts are made of. Until it is there, nothing of them is.
  static constexpr const char* kRunFile = "run.json";
  // Keeps all other runs out; or those that keep others out.
  enum class Hold : std::uint8_t { alone, shared };
  // Makes it where it is missing, opens it, and holds it until this object goes. Failure(conflict) when it is another
  // user's, holds what no run makes, which is left as it was, or another run is in it; (not_found) when the folder of
  // the output, or what is not to be made, is not there.
  enum class Missing : std::uint8_t { make, refuse };
  // `go_on` is asked while another machine's run is waited for, and may throw.
  void hold(Hold how, Missing missing = Missing::make, const std::function<void()>& go_on = {});
  // It is held no more.
  void let_others_in();
  // Then alone; false where another run has it.
  bool hold_alone(const std::function<void()>& go_on = {});
  // Part k is this run's until it is let go; false where it is another's, or may be.
  bool claim(std::uint64_t k);
  // The same once it is known whether a run of another machine is alive. `go_on` is asked meanwhile, and may throw.
  bool claim_when_known(std::uint64_t k, const std::function<void()>& go_on);
  void unclaim(std::uint64_t k);
  // The same of what an earlier run may have left: false, without a word, where there is none or it cannot be held.
  bool hold_left();
  // Names and files of runs that were killed, in a folder that stays; nothing where another run is in it.
  void tidy_left();
  // The name is still that of what is held.
  bool has_its_name() const;
  // Nobody needs it any more.
  void remove_lock() const;
  // It is not for this run: lets it go as it was found.
  void abandon();
  // What is in it, and itself. run.json goes last: what it stands beside is ours.
  void remove();
  // Files that a run was writing when it was killed. The folder is held alone.
  void remove_partial() const;
  // Only where there is nothing in it but its lock.
  void remove_if_empty();

  // Gives a file or a folder in it the output's name, which nothing else has; or only what was looked at, file or
  // folder, which then has the name in here, or is gone. Failure(conflict) when the name is taken.
  void publish(const std::string& name, const Replaceable& replaces);

 private:
  bool open_parent();
  bool open_folder();
  bool open_to_lock(Missing missing);
  void check_folder() const;
  bool open_lock();
  bool lock_is_named() const;
  bool try_lock(std::uint64_t byte) const;
  bool lock(short kind, std::uint64_t byte) const;
  void let_go();
  void sync_parent() const;

  bool be_seen(RunPresence::Mode mode);
  bool is_only_run(Hold how, const std::function<void()>& go_on);

  const std::string output_, name_;
  const RunPresence::Timing timing_;
  std::string at_;
  Descriptor parent_, folder_, lock_;
  bool made_lock_ = false;
  std::unique_ptr<RunPresence> presence_;  // goes before the folder it lies in
};

}  // namespace millrace
