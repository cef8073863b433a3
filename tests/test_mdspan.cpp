// Views of mdspans. What only a later CCCL has is tested where one of these is installed.
#include <gtest/gtest.h>
#include <inlay/mdspan.h>

namespace inlay {
namespace {

float* const kAt = reinterpret_cast<float*>(0x1000);
using Matrix = cuda::std::dextents<int, 2>;

TEST(Mdspan, ModesAreDimensions) {
  Tensor const rows = tensor(cuda::std::mdspan<float, Matrix>(kAt, 3, 5));
  EXPECT_EQ(rows.data, kAt);
  EXPECT_EQ(rows.dtype, DType::f32);
  EXPECT_EQ(rows.rank, 2);
  EXPECT_EQ(rows.extent[0], 3);
  EXPECT_EQ(rows.stride[0], 5);
  ConstTensor const columns = tensor(cuda::std::mdspan<float const, Matrix, cuda::std::layout_left>(kAt, 3, 5));
  EXPECT_EQ(columns.stride[0], 1);
  EXPECT_EQ(columns.stride[1], 3);
  EXPECT_EQ(tensor(cuda::std::mdspan<float, cuda::std::extents<int>>(kAt)).rank, 0);
}

TEST(Mdspan, AccessorsOfDevicesAndRelaxedStrides) {
#if __has_include(<cuda/__mdspan/layout_stride_relaxed.h>)
  EXPECT_EQ(tensor(cuda::device_mdspan<float const, Matrix>(kAt, 3, 5)).stride[0], 5);
  EXPECT_EQ(tensor(cuda::managed_mdspan<float, Matrix>(kAt, 3, 5)).stride[0], 5);
  cuda::layout_stride_relaxed::mapping<Matrix> const upwards(Matrix(3, 5), cuda::dstrides<int, 2>(-5, 1), 10);
  Tensor const flipped = tensor(cuda::std::mdspan<float, Matrix, cuda::layout_stride_relaxed>(kAt, upwards));
  EXPECT_EQ(flipped.data, kAt + 10);
  EXPECT_EQ(flipped.stride[0], -5);
#else
  GTEST_SKIP() << "CCCL " << CCCL_VERSION << " has neither device_mdspan nor layout_stride_relaxed; later ones have";
#endif
}

}  // namespace
}  // namespace inlay
