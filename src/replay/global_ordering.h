// Who touched each place of global memory that can be both read and written, and which blocks may know of it. Blocks run
// one after another here, which hides that on a GPU they do not: what itself or an earlier kernel of the kernel did, a
// block comes after; what a lower block did, only if that block has since released a flag that this one, or a block it
// acquired from, has acquired.
#pragma once
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include <inlay/replay/ordering.h>

namespace inlay::replay {

// The granules of one buffer, `bytes` bytes each: who wrote one last, and who has read it or changed it atomically since.
struct Places {
  Places(std::size_t bytes, std::size_t grain, bool initial);

  std::size_t grain;
  bool initial;  // there is something before anybody writes
  struct Free {
    void operator()(std::uint32_t* words) const { std::free(words); }
  };
  using Words = std::unique_ptr<std::uint32_t[], Free>;  // takes no memory before it is touched
  Words writer, touched;                                 // an access; the first node of a list of them; 0: none
};

class GlobalOrdering {
 public:
  static constexpr std::size_t kWord = 4;  // bytes: the places of the workspace

  void forget();  // a kernel begins: what was done before is over, and its Places are void
  void next_kernel();
  void next_block(unsigned block);

  // An access to whole places, by a thread of the block that runs now. Returns the end of a sentence if another access
  // may overtake it.
  std::string read(Places& places, std::size_t offset, std::size_t bytes, Event const& e, Ordering const& ordering,
                   Proxy proxy = Proxy::generic);
  std::string write(Places& places, std::size_t offset, std::size_t bytes, Event const& e, Ordering const& ordering,
                    Proxy proxy = Proxy::generic);
  std::string change(Places& places, std::size_t offset, std::size_t bytes, Event const& e, Ordering const& ordering);

  // A flag is written: whoever acquires it knows what this thread knows. And the flag has been seen.
  void release(Places& places, std::size_t flag, unsigned thread, Ordering const& ordering);
  std::string acquire(Places& places, std::size_t flag, unsigned thread, Ordering const& ordering);

  bool partly = false;  // only some blocks are replayed: what nobody has written may be read

 private:
  struct Access {
    int kernel;
    unsigned block;
    Event event;
    Proxy proxy;
    int release = 0;  // the first release of its block that came after it; 0: none yet
  };
  struct Node {
    std::uint32_t access, next;
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
  std::uint32_t add(Event const& e, Proxy proxy);
  bool ordered(Access const& a, unsigned thread, Ordering const& ordering) const;
  std::string conflict(std::uint32_t access, char const* did, unsigned thread, Ordering const& ordering,
                       Proxy proxy) const;
  bool lists(std::uint32_t node) const { return node > before_; }  // of an earlier kernel, a list is void
  Node const& node(std::uint32_t number) const { return nodes_[number - before_ - 1]; }
  // The list with this access before it, less those at its head that are nothing beside it.
  std::uint32_t with(std::uint32_t list, std::uint32_t access, Ordering const& ordering);

  int kernel_ = 0, releases_ = 0;
  unsigned block_ = 0;
  std::size_t first_of_block_ = 1;          // in accesses_
  std::vector<Access> accesses_{Access{}};  // [0]: none
  std::vector<Node> nodes_;                 // of this kernel, numbered from before_ + 1 on
  std::uint32_t before_ = 0;
  std::vector<Known> known_;           // to this block
  std::map<std::size_t, Flag> flags_;  // by offset in the workspace
};

}  // namespace inlay::replay
