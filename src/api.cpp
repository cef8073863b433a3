// Public functions: problem -> plan -> run.
#include <inlay/copy.h>

#include <string>

#include "plan/plan.h"

namespace inlay {
namespace {

void check_device(void const* p, char const* role, Device const& device) {
  cudaPointerAttributes a{};
  check(cudaPointerGetAttributes(&a, p));
  auto const who = [&] { return std::string("the ") + role + " pointer"; };
  if (a.type == cudaMemoryTypeUnregistered) throw Error(who() + " is host memory that CUDA does not know");
  if (a.type == cudaMemoryTypeDevice && a.device != device.id)
    throw Error(who() + " belongs to device " + std::to_string(a.device) + ", the current device is " +
                std::to_string(device.id));
}

MovePlan plan_transpose(Tensor const& dst, Tensor const& src, Device const*& device) {
  if (src.rank != 2 && src.rank != 3)
    throw Error("transpose takes views of rank 2 or 3, the source has rank " + std::to_string(src.rank));
  Move const move = make_move(dst, src.transposed());  // bad input is told before the device is asked
  device = &current_device();
  MovePlan const plan = plan_move(move, *device);
  if (!plan.chosen) throw Error("no variant can run this transpose:\n" + plan.why(*device));
  return plan;
}

}  // namespace

void transpose(Tensor const& dst, Tensor const& src, cudaStream_t stream) {
  Device const* device = nullptr;
  MovePlan const plan = plan_transpose(dst, src, device);
  if (plan.move.elements() == 0) return;
  check_device(src.data, "source", *device);
  check_device(dst.data, "destination", *device);
  plan.chosen->run(plan.move, *device, nullptr, stream);
}

std::string explain_transpose(Tensor const& dst, Tensor const& src) {
  Device const* device = nullptr;
  MovePlan const plan = plan_transpose(dst, src, device);
  return plan.why(*device);
}

}  // namespace inlay
