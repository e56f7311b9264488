"""The installed torch as a Bazel repository."""

_FIND = """
import importlib.util, sysconfig
print(importlib.util.find_spec("torch").submodule_search_locations[0])
print(sysconfig.get_paths()["include"])
"""

_BUILD = """
cc_library(
    name = "torch",
    hdrs = glob(["include/**/*.h", "include/**/*.hpp", "python/**/*.h"]),
    includes = ["include", "include/torch/csrc/api/include", "python"],
    linkopts = ["-L{lib}", "-Wl,-rpath,{lib}", "-ltorch_python", "-ltorch_cpu", "-lc10"],
    visibility = ["//visibility:public"],
)
"""

def _torch_repository(repository):
    python = repository.which("python3")
    found = repository.execute([python, "-c", _FIND])
    if found.return_code != 0:
        fail("torch is not installed for %s: pip install torch==2.13.0" % python)
    torch, headers = found.stdout.strip().split("\n")
    repository.symlink(torch + "/include", "include")
    repository.symlink(headers, "python")
    repository.file("BUILD", _BUILD.format(lib = torch + "/lib"))

torch_repository = repository_rule(
    implementation = _torch_repository,
    environ = ["PATH"],
    local = True,
)
