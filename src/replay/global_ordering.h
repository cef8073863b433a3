// The order of accesses to global memory that may be both read and written: the workspace, and in-place operands. The
// replay runs blocks one after another, while on a GPU they run concurrently. An access happens after an access of an
// earlier kernel, after an earlier access of its own block if Ordering says so, and after an access of a lower block
// only if that block has since released a flag that this block, or a block whose flag it acquired, has acquired.
#pragma once
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include <inlay/replay/ordering.h>

namespace inlay::replay {

// The accesses to one buffer, by granule of granule_bytes bytes. `writer` is the index of the access that last wrote
// the granule; `accessed` is the first node of the list of accesses that have read it or changed it atomically since.
// 0: none.
struct AccessHistory {
  AccessHistory(std::size_t bytes, std::size_t granule_bytes, bool initialised);

  std::size_t granule_bytes;
  bool initialised;  // the buffer has a value before the first write
  struct Free {
    void operator()(std::uint32_t* words) const { std::free(words); }
  };
  using Words = std::unique_ptr<std::uint32_t[], Free>;  // calloc: pages that are not accessed take no memory
  Words writer, accessed;
};

class GlobalOrdering {
 public:
  static constexpr std::size_t kWord = 4;  // granule of the workspace, in bytes

  // Begins a new replay: forgets all accesses. Every AccessHistory must be made anew.
  void forget();
  void next_kernel();
  void next_block(unsigned block);

  // Records an access to whole granules by a thread of the block that runs now. Returns the end of a sentence if its
  // order with an earlier access is not ensured, else an empty string.
  std::string read(AccessHistory& history, std::size_t offset, std::size_t bytes, Event const& e,
                   Ordering const& ordering, Proxy proxy = Proxy::generic);
  std::string write(AccessHistory& history, std::size_t offset, std::size_t bytes, Event const& e,
                    Ordering const& ordering, Proxy proxy = Proxy::generic);
  std::string change(AccessHistory& history, std::size_t offset, std::size_t bytes, Event const& e,
                     Ordering const& ordering);

  // release: the thread writes a flag; a thread that acquires the flag then knows all accesses that this thread knows.
  // acquire: the thread has read the flag with the expected value.
  void release(AccessHistory& history, std::size_t flag, unsigned thread, Ordering const& ordering);
  std::string acquire(AccessHistory& history, std::size_t flag, unsigned thread, Ordering const& ordering);

  bool sampled = false;  // only some blocks are replayed: words that nothing has written may be read

 private:
  struct Access {
    int kernel;
    unsigned block;
    Event event;
    Proxy proxy;
    int release = 0;  // number of the first release of its block after the access; 0: none yet
  };
  struct Node {
    std::uint32_t access, next;
  };
  struct Release {  // a release of a block: number `release` and all earlier ones of the block
    unsigned block;
    int release;
    Event since;  // when a thread of the current block acquired it
  };
  struct Flag {
    std::uint32_t writer;
    std::vector<Release> releases;
  };
  std::uint32_t add(Event const& e, Proxy proxy);
  bool ordered(Access const& a, unsigned thread, Ordering const& ordering) const;
  std::string conflict(std::uint32_t access, char const* did, unsigned thread, Ordering const& ordering,
                       Proxy proxy) const;
  bool is_current(std::uint32_t node) const {
    return node > nodes_of_earlier_kernels_;
  }  // lists of earlier kernels are void
  Node const& node(std::uint32_t number) const { return nodes_[number - nodes_of_earlier_kernels_ - 1]; }
  // Returns `list` with the access prepended, without leading accesses that the new access makes redundant.
  std::uint32_t prepend(std::uint32_t list, std::uint32_t access, Ordering const& ordering);

  int kernel_ = 0, releases_ = 0;
  unsigned block_ = 0;
  std::size_t first_of_block_ = 1;          // in accesses_
  std::vector<Access> accesses_{Access{}};  // [0]: none
  std::vector<Node> nodes_;                 // of this kernel; the first has number nodes_of_earlier_kernels_ + 1
  std::uint32_t nodes_of_earlier_kernels_ = 0;
  std::vector<Release> acquired_;      // by the current block
  std::map<std::size_t, Flag> flags_;  // by offset in the workspace
};

}  // namespace inlay::replay
