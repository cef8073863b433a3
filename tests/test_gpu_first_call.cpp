// The first calls of a process are captured into a CUDA graph, in the mode in which any synchronisation or allocation by
// the process fails: so a program of its own, with a single test.
#include "gpu.h"

namespace inlay::test {
namespace {

TEST(GpuFirstCall, IsCapturedIntoAGraph) {
  NEEDS_GPU();
  std::vector<std::unique_ptr<OnDevice>> all;
  for (int e :
       kElementSizes)  // vectors, an odd pitch, few columns, few rows, batches, a copy: a kernel's first call each
    for (Case const& c : {Case{256, 272}, Case{150, 171, 1, 1, 1, 1, 1}, Case{600, 5}, Case{5, 600}, packed(16, 16, 70),
                          packed(3, 5, 70), Case{1, 4096}})
      all.push_back(std::make_unique<OnDevice>(c, true, e));
  Stream const stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
  for (auto const& one : all) transpose(one->dst(), one->src(), stream.id);
  check(cudaStreamEndCapture(stream.id, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream.id));
  check(cudaStreamSynchronize(stream.id));
  for (auto const& one : all) EXPECT_EQ(one->wrong_bytes(), 0u) << one->e << " bytes, " << one->c.name();
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace inlay::test
