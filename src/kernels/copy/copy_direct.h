// Any copy, without shared memory: contiguous rows, broadcasts, gathers, and copies that every other kernel rejects.
#pragma once
#include <inlay/kernels/common/listed.h>
#include <inlay/kernels/copy/direct_rows.h>

namespace inlay::kernels::copy_direct {

struct Step {};  // gives the kernel its name
template <class T>
using Kernel = DirectRows<Carrier<T>, Step>;
using Dispatch = Listable<ByWidenedElement<Kernel>>;

inline constexpr Info<Copy> info = {
    .name = "copy_direct",
    .idea = "Any copy without shared memory: a thread writes 16 bytes, wherever they come from.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = rejects_wide<Kernel>,
    .seconds = seconds_wide<Kernel>,
    .takes_lists = true,
};

}  // namespace inlay::kernels::copy_direct
