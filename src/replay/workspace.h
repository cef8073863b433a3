// Who wrote each word of the workspace, and which blocks may know of it. Blocks run one after another here, which hides
// that on a GPU they do not: a block may read what itself, an earlier kernel of the variant, or a lower block wrote, the
// last if that block has since released a flag that the reader, or a block it acquired from, has acquired.
#pragma once
#include <cstdlib>
#include <map>
#include <memory>

#include <inlay/replay/ordering.h>

namespace inlay::replay {

class Workspace {
 public:
  static constexpr std::size_t kWord = 4;  // bytes

  void forget(std::size_t bytes);  // a variant begins: nobody has written anything
  void next_kernel() { ++kernel_; }
  void next_block(unsigned block);

  // An access to whole words, by a thread of the block that runs now. Returns the end of a sentence if another access
  // may overtake it.
  std::string read(std::size_t offset, std::size_t bytes, unsigned thread, Ordering const& ordering) const;
  std::string write(std::size_t offset, std::size_t bytes, Event const& e, Ordering const& ordering);

  // A flag is written: whoever acquires it knows what this thread knows. And the flag has been seen.
  void release(std::size_t flag, unsigned thread, Ordering const& ordering);
  std::string acquire(std::size_t flag, unsigned thread, Ordering const& ordering);

  bool partly = false;  // only some blocks are replayed: words may be read that nobody has written

 private:
  struct Writer {
    int kernel;
    unsigned block;
    Event event;
    int release = 0;  // the first release of its block that came after it; 0: none yet
  };
  struct Known {  // what a block has released, up to this release
    unsigned block;
    int release;
    Event since;  // when a thread of this block came to know it
  };
  struct Flag {
    std::uint32_t writer;
    std::vector<Known> known;
  };
  std::uint32_t add(Event const& e);
  std::string conflict(std::uint32_t writer, unsigned thread, Ordering const& ordering) const;

  int kernel_ = 0, releases_ = 0;
  unsigned block_ = 0;
  std::size_t first_of_block_ = 1;         // in writers_
  std::vector<Writer> writers_{Writer{}};  // [0]: nobody
  struct Free {
    void operator()(std::uint32_t* words) const { std::free(words); }
  };
  std::unique_ptr<std::uint32_t[], Free> word_;  // index of its last writer; takes no memory before it is touched
  std::vector<Known> known_;                     // to this block
  std::map<std::size_t, Flag> flags_;            // by offset
};

}  // namespace inlay::replay
