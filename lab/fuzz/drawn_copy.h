// A copy between two views of any layout, without the addresses of its buffers.
#pragma once
#include <inlay/problem/copy.h>

#include <cstdint>
#include <string>
#include <vector>

namespace inlay::lab {

// Extents and strides of both sides, in elements. Strides may be negative: bases are the bytes from a buffer's aligned
// start to the lowest element.
struct DrawnCopy {
  using Numbers = std::vector<std::int64_t>;
  std::string name;
  int elem = 4;  // bytes
  Numbers extents, src, dst;
  std::int64_t base_src = 0, base_dst = 0;

  std::int64_t elements() const;
  // Bytes from a buffer's start to the end of the highest element.
  std::size_t src_bytes() const { return bytes(src, base_src); }
  std::size_t dst_bytes() const { return bytes(dst, base_dst); }
  // The addresses of the first elements in buffers with aligned starts.
  char const* src_at(void const* buffer) const {
    return static_cast<char const*>(buffer) + base_src + span(src, true) * elem;
  }
  char* dst_at(void* buffer) const { return static_cast<char*>(buffer) + base_dst + span(dst, true) * elem; }
  Tensor destination(void* buffer) const {
    return tensor(static_cast<void*>(dst_at(buffer)), opaque(elem), extents, dst);
  }
  ConstTensor source(void const* buffer) const {
    return tensor(static_cast<void const*>(src_at(buffer)), opaque(elem), extents, src);
  }
  problem::Copy copy(void const* from, void* to) const { return problem::make_copy(destination(to), source(from)); }
  std::string text() const;

 private:
  // Elements from the first element to the lowest one if `below` is true, otherwise to the highest one.
  std::int64_t span(Numbers const& strides, bool below) const;
  std::size_t bytes(Numbers const& strides, std::int64_t base) const;
};

// Calls f(source, destination) for each element with its byte offsets from the first element of each side.
template <class F>
void for_each_element(DrawnCopy const& c, F const& f) {
  DrawnCopy::Numbers index(c.extents.size(), 0);
  for (std::int64_t i = 0, n = c.elements(); i < n; ++i) {
    std::int64_t from = 0, to = 0;
    for (std::size_t k = 0; k < index.size(); ++k) from += index[k] * c.src[k], to += index[k] * c.dst[k];
    f(from * c.elem, to * c.elem);
    for (std::size_t k = 0; k < index.size() && ++index[k] == c.extents[k]; ++k) index[k] = 0;
  }
}

}  // namespace inlay::lab
