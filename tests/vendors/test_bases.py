"""A description on top of another: a user's own operators on top of a vendor's."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import files_in

from gradmill.specs.layers.inheritance import Level, Merged, origin_of, rebased
from vendors.vendor import Vendor, kernel, registered

MINE = """base = "../set/specset.toml"

[[layer]]
name = "mine"
namespace = "mine"
native = "functions.yaml"
derivatives = "derivatives.yaml"
"""
FUNCTIONS = "- func: twice(Tensor self) -> Tensor\n  dispatch:\n    CPU: twice\n"
DERIVATIVES = "- name: mine::twice(Tensor self) -> Tensor\n  self: grad * 2\n"


class Mine(Vendor):
    """The vendor's set, and one on top of it in `mine`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "mine").mkdir()
        for name, text in (("specset.toml", MINE), ("functions.yaml", FUNCTIONS), ("derivatives.yaml", DERIVATIVES)):
            self.mine(name).write_text(text)

    def mine(self, name: str) -> Path:
        return self.folder / "mine" / name

    def add(self, text: str) -> None:
        with self.mine("specset.toml").open("a") as file:
            file.write(text)


@pytest.fixture
def mine(tmp_path: Path) -> Mine:
    return Mine(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Mine:
    """Both sets, built."""
    mine = Mine(tmp_path_factory.mktemp("mine"))
    mine.build(generated="theirs")
    mine.build(specs="mine")
    return mine


def test_the_set_has_all_of_the_base_and_its_own(built: Mine) -> None:
    files = built.files()
    assert {*files} == {*files_in(built.folder / "theirs")}
    theirs = (built.folder / "theirs" / "VariableType_0.cpp").read_text()
    kernels = files["VariableType_0.cpp"]
    assert set(registered(kernels)) == {*registered(theirs), "twice"}
    assert kernel(kernels, "swish") == kernel(theirs, "swish")
    assert "struct" in files["Functions.h"] and "TwiceBackward0" in files["Functions.h"]


def test_an_edit_of_the_base_runs_what_follows_from_it(built: Mine) -> None:
    assert built.run(specs="mine").ran == []
    built.replace("hooks.py", "if (plain())", "if (simple())")
    run = built.run(specs="mine")
    assert run.shards == ["VariableType_0.cpp", "VariableTypeEverything.cpp"]
    assert "if (simple())" in built.files()["VariableType_0.cpp"]
    built.replace("hooks.py", "if (simple())", "if (plain())")
    built.build(specs="mine")


def test_what_is_inherited_and_what_replaces(mine: Mine) -> None:
    mine.add('[functions]\nexclude = "exp"\norder = "name"\n[family.nodes]\nshards = 3\n')
    mine.add('[family.variable_type]\nleave_out = ["own_kernel"]\n')
    files = mine.build(specs="mine")
    kernels = files["VariableType_0.cpp"]
    assert not kernel(kernels, "exp") and not kernel(kernels, "noise"), "both lists of `exclude` apply"
    as_it_is = "auto& self_ = self;"
    assert as_it_is in kernel(kernels, "mm") and as_it_is not in kernel(kernels, "swish"), "the hooks apply"
    assert "run_jit_decomposition" not in kernels, "the list of the base applies, too"
    assert "python_functions_2.cpp" in files, "one value replaces the other"


def test_a_set_with_its_own_functions_alone_has_no_warning_about_settings_of_the_base(mine: Mine) -> None:
    mine.add('[functions]\ntake = "layer:mine"\n[family.nodes]\nfunctions = "layer:mine"\n')
    mine.add('[[family.nodes.replace]]\nfrom = "tiwce"\nto = "thrice"\n')
    run = mine.run(specs="mine").ok()
    assert (
        run.stderr.count("warning: ") == 1
        and "mine/specset.toml:13:9: warning: family: nodes: replace: 0:" in run.stderr
    )
    files = mine.files()
    assert registered(files["VariableType_0.cpp"]) == ["twice"]
    assert "SwishBackward0" not in files["Functions.h"] and "TwiceBackward0" in files["Functions.h"]


def test_files_of_the_base_are_not_fixed(mine: Mine) -> None:
    mine.replace("plugin/config/derivatives.yaml", "  self: grad * mask", "  self: grad * maks")
    mine.mine("derivatives.yaml").write_text(DERIVATIVES.replace("grad * 2", "grad * slef"))
    run = mine.run("check", specs="mine", fix=1)
    assert "mine/derivatives.yaml:2:16: fixed: 'slef' became 'self'" in run.stdout + run.stderr
    assert "set/plugin/config/derivatives.yaml: it is a file of the base; it was not fixed" in run.stdout + run.stderr


def test_functions_and_definitions_of_the_base_are_left_out(mine: Mine) -> None:
    mine.mine("specset.toml").write_text(
        MINE.replace(
            'base = "../set/specset.toml"\n',
            '[base]\nspecs = "../set"\nexclude = ["scaled", "plugin::clipped"]\ndrop = [{ derivatives = "swish" }]\n',
        )
    )
    files = mine.build(specs="mine")
    assert not kernel(files["VariableType_0.cpp"], "scaled") and not kernel(files["VariableType_0.cpp"], "clipped")
    assert "SwishBackward0" not in files["Functions.h"] and "ScaledBackward0" not in files["Functions.h"]
    assert "TwiceBackward0" in files["Functions.h"]


def test_explain_names_the_file_that_has_the_key(built: Mine) -> None:
    explained = built.run("explain", "set/specset.toml:13", specs="mine").stdout
    assert "the key layer[0].native" in explained and "SwishBackward0" in explained
    explained = built.run("explain", "mine/specset.toml:6", specs="mine").stdout
    assert "the key layer[0].native" in explained and "TwiceBackward0" in explained


def test_hooks_of_a_set_replace_those_of_its_base(mine: Mine) -> None:
    (mine.mine("own.py")).write_text("def select(function, family):\n    return function.operator != 'scaled'\n")
    mine.mine("specset.toml").write_text(f'hooks = "own.py"\n{MINE}')
    kernels = mine.build(specs="mine")["VariableType_0.cpp"]
    assert "if (plain())" not in kernels and not kernel(kernels, "scaled") and kernel(kernels, "swish")


def test_errors_name_the_file_that_has_the_key(mine: Mine) -> None:
    mine.add('[family.variable_type]\nleave_out = ["own_kernels"]\n')
    mine.replace("specset.toml", '"boxed_fallback"]', '"boxed_fallbacks"]')
    errors = mine.run(specs="mine").stderr
    assert "mine/specset.toml:9:15: error: family: variable_type: leave_out: no kernel has a part 'own_" in errors
    assert "set/specset.toml:57:57: error: family: variable_type: leave_out: no kernel has a part 'boxed_" in errors


@pytest.mark.parametrize(
    ("base", "messages"),
    [
        ("../set/specset.tml", ["mine/specset.toml:1:1: base.specs: ", "there is no such spec set"]),
        ("../mine", ["mine/specset.toml:1:1: base.specs: '../mine' has this description as its base"]),
        ("specset.toml", ["mine/specset.toml:1:1: base.specs: 'specset.toml' has this description as its base"]),
    ],
)
def test_a_missing_base_and_a_circle_are_refused(base: str, messages: list[str], mine: Mine) -> None:
    mine.mine("specset.toml").write_text(MINE.replace("../set/specset.toml", base))
    run = mine.run(specs="mine")
    assert run.status != 0 and "Traceback" not in run.stderr
    assert [message for message in messages if message not in run.stderr] == [], run.stderr


def test_a_circle_through_the_base_and_an_error_in_it_name_the_base(mine: Mine) -> None:
    mine.replace("specset.toml", 'specs = "../base"', 'specs = "../mine"')
    run = mine.run(specs="mine").failed("set/specset.toml:6:1: base.specs: '../mine' has this description as its base")
    mine.replace("specset.toml", 'specs = "../mine"', 'spec = "../base"')
    run = mine.run(specs="mine")
    assert "set/specset.toml:6:1: base.spec: there is no key 'spec'\n  hint: did you mean 'specs'?" in run.stderr


def test_a_layer_may_not_have_the_name_of_one_of_the_base(mine: Mine) -> None:
    mine.mine("specset.toml").write_text(MINE.replace('name = "mine"', 'name = "plugin"'))
    run = mine.run(specs="mine")
    assert "mine/specset.toml:4:1: layer.0.name: a layer of the base is called 'plugin', too" in run.stderr


def test_a_name_that_the_base_lacks_is_reported(mine: Mine) -> None:
    mine.mine("specset.toml").write_text(
        MINE.replace(
            'base = "../set/specset.toml"\n',
            '[base]\nspecs = "../set"\nexclude = ["scald"]\ndrop = [{ derivatives = "swihs", tags = "cor" }]\n',
        )
    )
    errors = mine.run(specs="mine").stderr
    assert "mine/specset.toml:3:13: warning: base: exclude: the base has no function 'scald'" in errors
    assert "did you mean 'scaled'?" in errors and "did you mean 'swish'?" in errors
    assert "the base has no tag 'cor'" in errors


@pytest.mark.parametrize("name", ["native_functions.yaml", "derivatives.yaml", "tags.yaml"])
def test_a_file_of_the_base_that_is_no_yaml_lacks_no_name(mine: Mine, name: str) -> None:
    mine.mine("specset.toml").write_text(
        '[base]\nspecs = "../base"\nexclude = ["exp"]\ndrop = [{ derivatives = "exp", tags = "core" }]\n'
    )
    path = mine.path(f"../base/{name}")
    path.write_text(f"{path.read_text()}\n}}: x\n")
    run = mine.run("check", specs="mine")
    assert "not YAML" in run.stdout + run.stderr and "the base has no" not in run.stdout + run.stderr


def test_keys_keep_their_files() -> None:
    merged = Merged()
    merged.add(
        Level("set:a", {"facts": [1, 2], "comment": "x", "family": {"n": {"shards": 1, "slots": {"h": {}}}}}, {})
    )
    above = {"facts": [3], "family": {"n": {"shards": 2, "slots": {"h": {"text": ""}}}}}
    merged.add(Level("set", above, {("facts", "0"): ("facts", "4")}))
    origins = merged.origins()
    assert merged.value == {
        "facts": [1, 2, 3],
        "comment": "x",
        "family": {"n": {"shards": 2, "slots": {"h": {"text": ""}}}},
    }
    assert origin_of(origins, ("facts", "1", "add")) == ("set:a", ("facts", "1", "add"))
    assert origin_of(origins, ("facts", "2", "add")) == ("set", ("facts", "4", "add"))
    assert origin_of(origins, ("comment",)) == ("set:a", ("comment",))
    assert origin_of(origins, ("family", "n", "shards")) == ("set", ("family", "n", "shards"))
    assert origin_of(origins, ("other",)) == ("set", ("other",))


def test_paths_of_a_base_are_relative_to_it() -> None:
    value = {
        "base": {"derivatives": "alone"},
        "layer": [{"name": "n", "native": "a.yaml", "tags": ["t"], "derivatives": {"file": "d", "list": "l"}}],
        "hooks": "hooks.py",
        "family": {
            "nodes": {"templates": "t", "comment": "c", "slots": {"file": "p"}, "file": {"x": {"template": "y"}}}
        },
    }
    assert rebased(value, lambda path: f"../{path}") == {
        "base": {"derivatives": "alone"},
        "layer": [{"name": "n", "native": "../a.yaml", "tags": ["../t"], "derivatives": {"file": "../d", "list": "l"}}],
        "hooks": "../hooks.py",
        "family": {
            "nodes": {"templates": "../t", "comment": "c", "slots": {"file": "p"}, "file": {"x": {"template": "../y"}}}
        },
    }
