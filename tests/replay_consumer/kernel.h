// The sums of a matrix's rows. 32 rows to a block: tile after tile comes through shared memory, loaded by lanes along
// the rows, so that sectors are whole, and added by lanes down the columns, each thread a part of one row.
#pragma once
#include <inlay/block/block.h>
#include <inlay/block/kernel.h>

namespace row_sums {
using namespace cute;
using inlay::block::copy_one;
using inlay::block::On;

struct Kernel {  // in (M,N) row-major -> out (M)
  float const* in;
  float* out;
  int M, N;

  static constexpr inlay::block::LaunchInfo launch_info{.threads = 256};
  using Tile = Shape<_32, _32>;                                 // (BLK_M,BLK_N)
  using TileLayout = Layout<Tile, Stride<Int<33>, _1>>;         // padded: 32 lanes down a column meet 32 banks
  using LoadThreads = Layout<Shape<_8, _32>, Stride<_32, _1>>;  // (THR_M,THR_N), lanes along N
  using AddThreads = Layout<Shape<_32, _8>>;                    // (THR_M,THR_N), lanes along M
  struct Smem {
    float tile[cosize_v<TileLayout>];
    float parts[cosize_v<AddThreads>];  // (row,part)
    static void members(auto name) { name("tile", &Smem::tile), name("parts", &Smem::parts); }
  };
  std::int64_t blocks() const { return ceil_div(M, 32); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int const m0 = int(block.block_index()) * 32, thread = int(block.thread_rank());
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    auto load = make_tiled_copy(atom, LoadThreads{}).get_slice(thread);
    auto add = make_tiled_copy(atom, AddThreads{}).get_slice(thread);
    Tensor sA = make_tensor(make_smem_ptr(smem.tile), TileLayout{});  // (BLK_M,BLK_N)
    Tensor tAsA = load.partition_D(sA);                               // (CPY,CPY_M,CPY_N)
    Tensor tPsA = add.partition_S(sA);                                // (CPY,CPY_M,CPY_N)
    Tensor cA = make_identity_tensor(Tile{});                         // (BLK_M,BLK_N) -> (m,n)
    Tensor tArA = make_tensor<float>(shape(tAsA));                    // (CPY,CPY_M,CPY_N)
    Tensor tPrA = make_tensor<float>(shape(tPsA));                    // (CPY,CPY_M,CPY_N)

    float sum = 0;
    for (int n0 = 0; n0 < N; n0 += 32) {
      Tensor gA = make_tensor(make_gmem_ptr(in + (std::int64_t(m0) * N + n0)), Tile{}, make_stride(N, _1{}));
      auto inside = [&](auto const& c) { return elem_less(c, make_coord(M - m0, N - n0)); };
      clear(tArA);  // what lies beyond an edge adds nothing
      copy_if(atom, lazy::transform(load.partition_S(cA), inside), load.partition_S(gA), tArA);
      block.sync();  // the last tile has been added
      copy(atom, tArA, tAsA);
      block.sync();  // this one is whole
      copy(atom, tPsA, tPrA);
      for (int i = 0; i < size(tPrA); ++i) sum += tPrA(i);
    }

    int const row = thread % 32;
    bool const mine = thread < 32 && m0 + row < M;
    copy_one(atom, true, &sum, make_smem_ptr(smem.parts + thread));
    block.sync();  // all parts are there
    sum = 0;
    for (int part = 0; part < 8; ++part) {
      float x = 0;
      copy_one(atom, mine, make_smem_ptr(smem.parts + AddThreads{}(row, part)), &x);
      sum += x;
    }
    copy_one(atom, mine, &sum, make_gmem_ptr(out + m0 + row));
  }
};

}  // namespace row_sums
