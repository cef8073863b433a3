// Linked in a build without nvcc, which has no kernels to launch.
#include <inlay/error.h>

#include "fuzz/fuzz.h"
#include "measure/bench.h"
#include "measure/gpu.h"
#include "measure/redistribute.h"
#include "measure/tune.h"

namespace inlay::lab {

std::string why_no_gpu() { return "this build was made without nvcc"; }

Device gpu_or_table() { return {}; }

std::string gpu_name() { throw Error(why_no_gpu()); }

void print_gpu_info() {}

template <class C>
std::string check_on_gpu(Entry<typename C::Canonical> const&, C const&) {
  throw Error(why_no_gpu());
}
template std::string check_on_gpu(Entry<Copy> const&, CopyCase const&);
template std::string check_on_gpu(Entry<Gemm> const&, GemmCase const&);

FuzzCase fuzz_on_gpu(FuzzKind) { throw Error(why_no_gpu()); }

std::string tune(SuiteCase const&, double) { throw Error(why_no_gpu()); }
void save_tuned(std::string const&) {}
std::size_t load_tuned(std::string const&) { throw Error(why_no_gpu()); }

std::string redistribution_devices() { throw Error(why_no_gpu()); }
void redistribute_on_gpus(std::vector<ShardedCase> const&, std::function<void(Redistributed const&)> const&) {
  throw Error(why_no_gpu());
}

Measured bench(SuiteCase const&, BenchOptions const&, Progress&) { throw Error(why_no_gpu()); }

}  // namespace inlay::lab
