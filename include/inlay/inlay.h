// All of the library but mdspan.h and cute.h, which name types of other libraries.
#pragma once
#include <inlay/banks.h>
#include <inlay/copy.h>
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <inlay/plan.h>
#include <inlay/tensor.h>
#include <inlay/types.h>
#include <inlay/version.h>
