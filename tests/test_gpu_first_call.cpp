// The first calls of a process are captured into a CUDA graph, in the mode in which any synchronisation or allocation
// by the process fails: so a program of its own, with a single test.
#include "gemm_gpu.h"

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
  std::vector<GemmOnDevice> gemms;  // large, small, skinny, deep, odd, a batch: in every layout
  std::vector<Workspace> workspaces;
  for (char const* transposes : kTransposes)
    for (GemmCase const& c : {GemmCase{1024, 1024, 256, 1, transposes}, GemmCase{128, 256, 64, 1, transposes},
                              GemmCase{1000, 8, 300, 1, transposes}, GemmCase{64, 64, 20000, 1, transposes},
                              GemmCase{501, 403, 99, 1, transposes, 2, -1}, GemmCase{64, 64, 64, 5, transposes},
                              GemmCase{33, 35, 0, 1, transposes, 1, 2}})
      for (bool packed : {false, true}) {
        gemms.emplace_back(c);
        workspaces.emplace_back(packed ? gemms.back().workspace_bytes() : 0);
      }
  // And by plans that were made before: their runs do not synchronise either.
  std::vector<std::unique_ptr<OnDevice>> planned_transposes;
  std::vector<GemmOnDevice> planned_gemms;
  std::vector<Plan> copy_plans, gemm_plans;
  std::vector<Workspace> planned_workspaces;
  for (Case const& c : {Case{256, 272}, Case{150, 171, 1, 1, 1, 1, 1}, packed(3, 5, 70)}) {
    planned_transposes.push_back(std::make_unique<OnDevice>(c, true, 4));
    copy_plans.push_back(plan(planned_transposes.back()->dst(), planned_transposes.back()->src().transposed()));
  }
  for (GemmCase const& c :
       {GemmCase{128, 256, 64}, GemmCase{64, 64, 20000}, GemmCase{1501, 1403, 99, 1, "nn", 2, -1}}) {
    GemmOnDevice const& g = planned_gemms.emplace_back(c);
    gemm_plans.push_back(plan(g.A(), g.B(), g.C(), g.epilogue()));
    planned_workspaces.emplace_back(gemm_plans.back().workspace_bytes());
  }
  Stream const stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
  for (auto const& one : all) transpose(one->dst(), one->src(), stream.id);
  for (std::size_t i = 0; i < gemms.size(); ++i) gemms[i].multiply(stream.id, workspaces[i].options);
  for (std::size_t i = 0; i < planned_transposes.size(); ++i)
    copy_plans[i].run(planned_transposes[i]->dst().data, planned_transposes[i]->src().data, stream.id);
  for (std::size_t i = 0; i < planned_gemms.size(); ++i)
    gemm_plans[i].run(planned_gemms[i].A().data, planned_gemms[i].B().data, planned_gemms[i].C().data, stream.id,
                      planned_workspaces[i].options.workspace, planned_workspaces[i].options.workspace_bytes);
  check(cudaStreamEndCapture(stream.id, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream.id));
  check(cudaStreamSynchronize(stream.id));
  for (auto const& one : all) EXPECT_EQ(one->wrong_bytes(), 0u) << one->e << " bytes, " << one->c.name();
  for (GemmOnDevice const& g : gemms)
    EXPECT_EQ(g.wrong_bytes(), 0u) << g.problem().M() << "x" << g.problem().N() << "x" << g.problem().K();
  for (auto const& one : planned_transposes) EXPECT_EQ(one->wrong_bytes(), 0u) << one->c.name();
  for (GemmOnDevice const& g : planned_gemms)
    EXPECT_EQ(g.wrong_bytes(), 0u) << g.problem().M() << "x" << g.problem().N() << "x" << g.problem().K();
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace inlay::test
