#include <inlay/copy.h>

#include <cstdio>

// Bad input is one sentence, before anything is launched: without a GPU too.
int main() {
  float a[12] = {};
  try {
    inlay::transpose(inlay::matrix(a, 4, 4), inlay::matrix(a, 3, 4));
  } catch (inlay::Error const& e) {
    std::printf("%s\n", e.what());
    return 0;
  }
  return 1;
}
