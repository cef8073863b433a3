// The one idea every room shares: a variant is a kernel with a name, an idea, what it rejects and what it costs.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/device.h"
#include "problem/gemm.h"
#include "problem/move.h"

namespace inlay {

// Why a variant cannot run: empty, or a format with up to three numbers. Making one allocates nothing.
struct Reason {
  char const* format = nullptr;  // fmt syntax
  std::int64_t args[3]{};
  explicit operator bool() const { return format != nullptr; }
  std::string sentence() const;
};

// Warp requests and what they cost: 32-byte sectors in global memory, wavefronts in shared memory.
struct Traffic {
  std::int64_t requests = 0, transactions = 0;
  double per_request() const { return requests ? double(transactions) / double(requests) : 0; }
  friend bool operator==(Traffic const&, Traffic const&) = default;
};

// Predicted in closed form; a test holds it equal to the replay's counts. TMA counts boxes and the bytes inside bounds.
struct Cost {
  Traffic global_load, global_store, shared_store, shared_load;
  Traffic async_copy;           // cp.async: its sectors; its shared-memory writes are in no ncu counter
  Traffic tma_load, tma_store;  // boxes and bytes
  std::int64_t fma = 0;         // fused multiply-adds of threads, those on padding included
};

template <class P>
struct Info {
  char const* name;    // == file stem == namespace == CLI name == test name
  char const* idea;    // one sentence
  char const* source;  // the tutorial step it reproduces, or "inlay"
  Reason (*rejects)(P const&, Device const&);
  Cost (*cost)(P const&, Device const&);
  std::size_t (*workspace)(P const&, Device const&);
};

template <class P>
using Run = void (*)(P const&, Device const&, void* workspace, cudaStream_t);

// What a product links: the facts and the launch.
template <class P>
struct Variant {
  Info<P> const* info;
  Run<P> run;
};

template <class P>
std::size_t no_workspace(P const&, Device const&) {
  return 0;
}

}  // namespace inlay
