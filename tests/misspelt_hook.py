"""A kernel whose hook is misspelt does not compile, and the compiler names the hook; and a kernel is one file and one line.

usage: misspelt_hook.py ROOT CMAKE GENERATOR COMPILER FLAG...
The flags are those with which the project compiles replays. Nothing is run: the compiler looks at the syntax, CMake configures.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root, cmake, generator, compiler, *flags = sys.argv[1:]
root = pathlib.Path(root)
bad = []

# A kernel of a family, under another name.
TOY = (root / "src/kernels/copy/copy_contiguous.h").read_text().replace("copy_contiguous", "copy_99_toy")
# And one that stands alone, with all hooks that a kernel can have.
OWN = """#include <inlay/kernels/copy/tile_grid.h>
namespace inlay::kernels::copy_99_own {

template <class T>
struct Kernel {  // one run of elements
  T const* in;
  T* out;
  int64_t N;
  static constexpr int threads = 32;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = 2, .clusters = true};
  struct Smem {
    T A[threads];
    static void members(auto name) { name("A", &Smem::A); }
  };
  void relocate(auto const& at) { in = at(in), out = at(out); }
  static Kernel make(Copy const& copy, auto const&) {
    return {static_cast<T const*>(copy.src), static_cast<T*>(copy.dst), copy.elements()};
  }
  int64_t blocks() const { return ceil_div(N, int64_t(threads)); }
  int cluster() const { return 1; }
  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int64_t const t = block.thread_rank(), i = block.block_index() * threads + t;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> atom;
    copy_one(atom, i < N, make_gmem_ptr(in + i), make_smem_ptr(smem.A + t));
    copy_one(atom, i < N, make_smem_ptr(smem.A + t), make_gmem_ptr(out + i));
  }
};
inline Reason none(Copy const& copy, Device const&) {
  if (copy.kind == Copy::Kind::contiguous) return {};
  return {"the copy is no run of elements"};
}
using Dispatch = ByElement<Kernel>;
inline constexpr Info<Copy> info = {.name = "copy_99_own", .idea = "A test.", .source = "a test", .ladder = Ladder::copy,
                                    .origin = Origin::ours, .rejects = none};
}  // namespace inlay::kernels::copy_99_own
"""
SHARED = """#include <inlay/kernels/common/launch_kernel.h>
#include <inlay/registry/replay_kernel.h>
#include <inlay/kernels/copy/tile_grid_samples.h>
"""
UNIT = """#include "shared.h"
#include "%(name)s.h"
INLAY_DEFINE_%(role)s(Copy, %(name)s)
namespace inlay::test {
void replayed(problem::Copy const& copy, model::Device const& device, replay::Recorder& recorder) {
  registry::replay_kernel<kernels::ByElement<kernels::%(name)s::Kernel>>(copy, device, recorder);
}
}  // namespace inlay::test
"""
# What stands in the file, the slip, and what the compiler must name: the hook that is missing, or the field that there is not.
SLIPS = [
    ("copy_99_toy", TOY, ".rejects =", ".reject =", "reject"),
    ("copy_99_toy", TOY, "    .seconds = seconds<Kernel>,\n", "", "seconds"),  # the planner could not compare it
    ("copy_99_own", OWN, "launch_info{", "launch_inf{", "launch_info"),
    ("copy_99_own", OWN, ".min_blocks =", ".min_block =", "min_block"),
    ("copy_99_own", OWN, "void members(", "void member(", "members"),
    ("copy_99_own", OWN, "Kernel make(", "Kernel makes(", "make"),
    ("copy_99_own", OWN, "void relocate(", "void relocated(", "relocate"),
    ("copy_99_own", OWN, "int64_t blocks()", "int64_t block_count()", "blocks"),
    ("copy_99_own", OWN, "int cluster()", "int clusters()", "cluster"),
    ("copy_99_own", OWN, ".rejects =", ".reject =", "reject"),
]


def compiled(work, name, text):
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    (folder / f"{name}.h").write_text(text)
    (folder / "unit.cpp").write_text(UNIT % {"name": name, "role": "KERNEL" if name == "copy_99_toy" else "STEP"})
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", *flags, f"-I{work}", f"-I{folder}", folder / "unit.cpp"],
                          capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})


def check_as_it_is(work, name, text):
    done = compiled(work, name, text)
    return [] if done.returncode == 0 else [f"{name} unchanged does not compile:\n{done.stderr}"]


def check_slip(work, name, text, right, wrong, hook):
    if text.count(right) != 1:
        return [f"{name} does not have '{right}' once"]
    slip = f"{right.rstrip('{ (=')} -> {wrong.rstrip('{ (=')}"
    done = compiled(work, name, text.replace(right, wrong))
    if done.returncode == 0:
        return [f"{slip} compiles"]
    lines = done.stderr.splitlines()
    first = next((line for line in lines if "error:" in line), done.stderr)
    named = next((line for line in lines if re.search(rf"\b{hook}\b", line)), None)  # the file's own lines have the slip
    print(f"{slip}\n    {first}" + (f"\n    {named}" if named not in (None, first) else ""))
    return [] if named else [f"{slip}: the compiler does not name {hook}:\n" + "\n".join(lines[:40])]


def check_one_file(work):
    """A tree with one more kernel, which CMake configures as a part of another project: neither lab nor tests are needed."""
    tree, build = work / "tree", work / "build"
    shutil.copytree(root / "src", tree / "inlay/src")
    for name in ("include", "cmake", "CMakeLists.txt", ".venv"):
        if (root / name).exists():
            (tree / "inlay" / name).symlink_to((root / name).resolve())
    folder = tree / "inlay/src/kernels/copy"
    (folder / "copy_99_toy.h").write_text(TOY)
    (folder / "kernels.def").write_text((folder / "kernels.def").read_text() + "INLAY_KERNEL(copy_99_toy)\n")
    (tree / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.28)\nproject(one_file LANGUAGES CXX)\nadd_subdirectory(inlay)\n")
    done = subprocess.run([cmake, "-S", tree, "-B", build, "-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}", "-DBUILD_TESTING=OFF"],
                          capture_output=True, text=True)
    if done.returncode:
        return [f"the tree with one more kernel does not configure:\n{done.stdout}{done.stderr}"]
    units = "".join(file.read_text() for file in (build / "inlay/generated").glob("copy_*.c*"))
    said = [f"no unit of the tree with one more kernel has '{line}'"
            for line in ("#include <inlay/kernels/copy/copy_99_toy.h>", "INLAY_DEFINE_KERNEL(Copy, copy_99_toy)",
                         "INLAY_DEFINE_REPLAY(Copy, copy_99_toy)") if line not in units]
    print(f"one more kernel: {'missing' if said else 'in the units'}")
    return said


with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    work = pathlib.Path(folder)
    (work / "shared.h").write_text(SHARED)  # compiled once, because all units begin with it
    subprocess.run([compiler, "-std=c++20", "-w", *flags, work / "shared.h", "-o", work / "shared.h.gch"], check=True)
    jobs = [pool.submit(check_as_it_is, work, name, text) for name, text in (("copy_99_toy", TOY), ("copy_99_own", OWN))]
    jobs += [pool.submit(check_slip, work, *slip) for slip in SLIPS]
    jobs.append(pool.submit(check_one_file, work))
    for job in jobs:
        bad += job.result()
print("\n".join(bad) or f"{len(SLIPS)} slips do not compile, and each is named")
sys.exit(bool(bad))
