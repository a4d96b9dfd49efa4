// Enters: a store's name.
// Leaves: the folder beside it where its shards are made, held by a descriptor, as is the folder that both lie in.
// Never: works in a folder of somebody else's, or in what has the folder's name by now.
//
// The names in it are known to everybody: it is worked in only where nobody else can put a link under one of them, and
// reached by its descriptor, so that whoever may exchange folders beside the store cannot lead a run elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "src/io/file/place.h"

namespace millrace::render {

class ShardFolder {
 public:
  // Of OUTPUT, which may end with a slash. Opens nothing.
  explicit ShardFolder(const std::string& output);

  // Both as a person wrote them, for messages. The folder's is OUTPUT.shards.
  const std::string& output() const { return output_; }
  const std::string& name() const { return name_; }
  // It, and what is in it, for opening: through the descriptor once that is held, by name until then.
  const std::string& path() const { return at_; }
  std::string path(std::string_view file) const;
  // A failure, with names in it that a person knows.
  Error in_words(Error error) const;

  // Makes it where it is missing, opens it, and keeps other runs out until this object goes. Failure(conflict) when it
  // is another user's, holds links, or another run is in it; (not_found) when the folder of the output is not there.
  void hold();
  // The same of what an earlier run may have left: false, without a word, where there is none or it cannot be held.
  bool hold_left();
  // The name is still that of what is held.
  bool has_its_name() const;
  // What is in it, and itself. run.json goes last: what it stands beside is ours.
  void remove();
  // Only where it is empty.
  void remove_if_empty() const;

  // Gives a file in it, or it itself, the output's name, which nothing else has; a file replaces what has it where
  // `over` is set. Failure(conflict) when the name is taken.
  void publish(std::string_view file, bool over);
  void publish();

 private:
  bool open_parent();
  bool open_folder();
  bool lock() const;
  void let_go();
  void sync_parent() const;
  void put_in_place(int from, const std::string& name, bool over);

  const std::string output_, name_;
  std::string at_;
  Descriptor parent_, folder_;
};

}  // namespace millrace::render
