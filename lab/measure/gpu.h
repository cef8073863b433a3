// All that the rest of the lab asks of a GPU. A build without nvcc links no_gpu.cpp, where there is never one.
#pragma once
#include <inlay/registry/registry.h>

#include <string>
#include <vector>

#include "measure/bench.h"
#include "problems/problems.h"

namespace inlay::lab {

// Empty: there is one. Else why there is none, in words that follow "there is no GPU to use: ".
std::string why_no_gpu();

// The current GPU, or the H200 of the device table.
Device gpu_or_table();

// What the driver calls the current GPU: the device table has a shorter name.
std::string gpu_name();

// The facts of the GPU and its copy limit, on stdout.
void print_gpu_info();

// "ok", "rejected: ...", "FAILED: ...".
std::string check_on_gpu(Entry<Move> const& entry, Case const& c);
std::string check_on_gpu(Entry<Gemm> const& entry, GemmCase const& c);

// `inlay bench`: a table per case on stdout, and the file if one is asked for. False when a verdict is FAILED.
bool bench(BenchOptions const& options);

}  // namespace inlay::lab
