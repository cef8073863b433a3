// What the rest of the lab needs from a GPU. A build without nvcc links no_gpu.cpp instead, which reports that there is
// none.
#pragma once
#include <string>

#include "problems/problem.h"

namespace inlay::lab {

// Why there is no GPU: no driver, no device, or a build without CUDA. Empty if there is one, even if the program has no
// code for it.
std::string why_no_gpu();

// The current GPU, or the H200 of the device table.
Device gpu_or_table();

// The driver's name of the current GPU. The device table has a shorter one.
std::string gpu_name();

// Prints the properties of the GPU and its copy limit.
void print_gpu_info();

// Runs the kernel between guard bands: "ok", "rejected: ..." or "FAILED: ...". Defined for CopyCase and GemmCase.
template <class C>
std::string check_on_gpu(Entry<typename C::Canonical> const& entry, C const& c);

}  // namespace inlay::lab
