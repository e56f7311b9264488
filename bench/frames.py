"""The cost of a call of a Node in the split layout, which puts its gradient function in a separate source.

    python -m bench.frames [ROUNDS]

Two programs with the same operators of `core` and `-O2`: one source, as upstream has it, and the split layout. In
turns, each applies `MulBackward0` to a gradient, without the engine; the figure is the minimum of the rounds, in
nanoseconds per call. With an undefined gradient no kernel runs, so only the frame is measured.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cpp import toolchain  # noqa: E402
from never_wrong.specset import make_folder, of_families, read_specs  # noqa: E402
from project import CORE  # noqa: E402

PROGRAM = r"""
#include <chrono>
#include <cstdio>
#include "Functions.h"
template <typename F> double nanoseconds(F f) {
  constexpr int calls = 200000;
  for (int i = 0; i < calls / 10; ++i) f();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / calls;
}
int main() {
  at::NoGradGuard guard;
  auto node = c10::make_intrusive<gradmill::core::MulBackward0>();
  auto next = c10::make_intrusive<gradmill::core::MulBackward0>();  // an edge, so that both gradients are required
  node->add_next_edge(torch::autograd::Edge(next, 0));
  node->add_next_edge(torch::autograd::Edge(next, 1));
  auto one = at::ones({});
  node->self_ = torch::autograd::SavedVariable(one, false);
  node->other_ = torch::autograd::SavedVariable(one, false);
  node->self_scalar_type = node->other_scalar_type = at::kFloat;
  std::printf("%f %f\n",
    nanoseconds([&] { node->apply({at::Tensor()}); }), nanoseconds([&] { node->apply({one}); }));
}
"""


def main() -> None:
    if reason := toolchain.missing():
        raise SystemExit(reason)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory(prefix="gradmill-frames-") as folder:
        place = Path(folder)
        specs = make_folder(place / "set", CORE, (CORE / "RELEASE").read_text().strip())
        of_families(read_specs(CORE), ["mul"]).write(specs)
        programs = {layout: build(place / layout, specs, layout) for layout in ("upstream", "split")}
        timings: dict[str, list[tuple[float, float]]] = {layout: [] for layout in programs}
        for _ in range(rounds):
            for layout, program in programs.items():
                finished = subprocess.run([program], check=True, capture_output=True, text=True)
                undefined, defined = map(float, finished.stdout.split())
                timings[layout].append((undefined, defined))
    print("| layout | undefined gradient | defined |\n|---|---|---|")
    for layout, each in timings.items():
        print(f"| {layout} | {min(u for u, _ in each):.1f} ns | {min(d for _, d in each):.1f} ns |")


def build(folder: Path, specs: Path, layout: str) -> Path:
    """Compiles the program of a layout and returns its path."""
    generated = folder / "generated"
    words = [f"specs={specs}", f"generated={generated}", f"cache={folder / 'cache'}", f"layout={layout}", "shards=1"]
    run = [sys.executable, "-m", "gradmill", "families=nodes", *words]
    subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    main = folder / "main.cpp"
    main.write_text(PROGRAM)
    flags = toolchain.compile_flags(generated, specs / "templates", CORE / "templates", optimize="-O2")
    objects = []
    for source in (main, *generated.glob("Functions*.cpp")):
        objects.append(folder / f"{source.stem}.o")
        subprocess.run(["c++", *flags, "-c", str(source), "-o", str(objects[-1])], check=True)
    linked = [word for word in toolchain.link_flags() if word not in ("-shared", "-ltorch_python")]
    program = folder / "program"
    subprocess.run(["c++", *map(str, objects), "-o", str(program), *linked, "-Wl,--allow-shlib-undefined"], check=True)
    return program


if __name__ == "__main__":
    main()
