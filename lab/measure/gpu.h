// All that the rest of the lab asks of a GPU. A build without nvcc links no_gpu.cpp, where there is never one.
#pragma once
#include <string>

#include "problems/problem.h"

namespace inlay::lab {

// Empty: there is one. Else why there is none, in words that follow "there is no GPU to use: ".
std::string why_no_gpu();

// The current GPU, or the H200 of the device table.
Device gpu_or_table();

// What the driver calls the current GPU: the device table has a shorter name.
std::string gpu_name();

// The facts of the GPU and its copy limit, on stdout.
void print_gpu_info();

// "ok", "rejected: ...", "FAILED: ...". Of the lab's own kinds.
template <class C>
std::string check_on_gpu(Entry<typename C::Canonical> const& entry, C const& c);

}  // namespace inlay::lab
