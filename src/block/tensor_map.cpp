#include <inlay/block/tensor_map.h>

#include <inlay/error.h>

#include <string>

namespace inlay::block {
namespace {

template <class F>
F* driver_function(char const* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found{};
  detail::check(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
  detail::require(found == cudaDriverEntryPointSuccess,
                  std::string("the driver has no ") + name + ": TMA cannot be used");
  return reinterpret_cast<F*>(f);
}

auto* replace_function() {
  static auto* const replace = driver_function<decltype(cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
  return replace;
}

CUtensorMapDataType type_of(int elem_bytes) {
  return elem_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
         : elem_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
         : elem_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                           : CU_TENSOR_MAP_DATA_TYPE_UINT64;
}

}  // namespace

CUtensorMap DriverEncoder::operator()(TmaTensor const& t) const {
  static auto* const encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  replace_function();  // throws here, before anything is launched
  cuuint64_t extent[3], stride[2];
  cuuint32_t box[3], step[3] = {1, 1, 1};
  for (int k = 0; k < 3; ++k) extent[k] = cuuint64_t(t.extent[k]), box[k] = cuuint32_t(t.box[k]);
  for (int k = 0; k < 2; ++k) stride[k] = cuuint64_t(t.stride[k]);
  // Rows of 128 bytes that begin within a line would bring both lines from the L2; measured for 16-bit operands alone.
  auto const promotion = t.elem_bytes == 2 ? CU_TENSOR_MAP_L2_PROMOTION_NONE : CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  CUtensorMap map;
  CUresult const status =
      encode(&map, type_of(t.elem_bytes), 3, const_cast<void*>(t.base), extent, stride, box, step,
             CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle_128b ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
             promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw Error("the driver refused a TMA descriptor for a tensor of " + std::to_string(t.extent[0]) + " x " +
                std::to_string(t.extent[1]) + " x " + std::to_string(t.extent[2]) + " elements (CUresult " +
                std::to_string(int(status)) + ")");
  return map;
}

void DriverEncoder::replace_address(CUtensorMap& map, void const* address) {
  if (CUresult const status = replace_function()(&map, const_cast<void*>(address)); status != CUDA_SUCCESS)
    throw Error("the driver refused an address of a TMA descriptor (CUresult " + std::to_string(int(status)) + ")");
}

}  // namespace inlay::block
