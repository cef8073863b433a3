// Linked where there is no nvcc: nothing here can be launched.
#include <inlay/error.h>

#include "measure/gpu.h"
#include "usage_error.h"

namespace inlay::lab {

std::string why_no_gpu() { return "this build was made without nvcc"; }

Device gpu_or_table() { return {}; }

std::string gpu_name() { throw Error(why_no_gpu()); }

void print_gpu_info() {}

std::string check_on_gpu(Entry<Move> const&, Case const&) { throw Error(why_no_gpu()); }
std::string check_on_gpu(Entry<Gemm> const&, GemmCase const&) { throw Error(why_no_gpu()); }

bool bench(BenchOptions const&) { throw UsageError("bench needs a GPU: " + why_no_gpu()); }

}  // namespace inlay::lab
