"""Hostile input: bombs, endless lines, bottomless nesting, odd bytes. An error, in bounded time and memory."""

from __future__ import annotations

from collections.abc import Callable

import forked
import pytest
from project import Project, Run

pytestmark = pytest.mark.slow  # files of megabytes

SECONDS = 20  # of processor time, of which a run with a plain error takes one or two: then it is taken for endless
MEGABYTES = 400  # of memory
D, N, T = "derivatives.yaml", "native_functions.yaml", "tags.yaml"


def run_limited(project: Project, *arguments: str) -> Run:
    """A run that the system ends where it takes very much time, and refuses much memory."""
    return forked.gradmill([*arguments, *project.words], CPU=SECONDS, DATA=MEGABYTES << 20)


def _bomb(levels: int, width: int, size: int = 2) -> bytes:
    rows = [f"- a0: &a0 [{', '.join('x' * size)}]"]
    rows += [f"- a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * width)}]" for i in range(1, levels)]
    return ("\n" + "\n".join(rows) + "\n").encode()


def _nested(levels: int, key: str) -> bytes:
    return ("\n- name: x\n" + "".join(f"  {' ' * i}{key}:\n" for i in range(levels))).encode()


def _schema(text: str) -> bytes:
    return f"\n- func: '{text}'\n".encode()


# What is added at the end of a file of the set.
ADDED: dict[str, tuple[str, bytes]] = {
    "bomb of ten levels": (D, _bomb(10, 10)),
    "bomb of forty levels": (D, _bomb(40, 2)),
    "bomb among functions": (N, _bomb(40, 2)),
    "bomb among tags": (T, _bomb(40, 2)),
    "bomb with large leaves": (D, _bomb(3, 1000, 1000)),
    "many small bombs": (D, _bomb(2, 1000, 1000) + b"- b: *a1\n" * 30),
    "bomb that is one key": (D, b"\n- &a {? *a : 1}\n"),
    "alias to itself": (D, b"\n- &a [*a]\n"),
    "brackets": (D, b"\n- " + b"[" * 100_000 + b"\n"),
    "braces": (N, b"\n- " + b"{a: " * 50_000 + b"\n"),
    "brackets in the depth of one line each": (D, b"\n- \n" + b" [\n" * 50_000),
    "dashes": (D, b"\n" + b"- " * 50_000 + b"a\n"),
    "questions": (D, b"\n- " + b"? " * 50_000 + b"a\n"),
    "indentation": (D, _nested(400, "k")),
    "more indentation": (D, _nested(2000, "k")),
    "indentation among functions": (N, _nested(1000, "dispatch")),
    "megabyte line": (D, b"\n- name: " + b"a" * 5_000_000 + b"\n"),
    "long name": (D, b"\n- name: " + b"a" * 190_000 + b"\n"),
    "schema of parentheses": (N, _schema("f(" + "(" * 190_000 + "Tensor a) -> Tensor")),
    "schema of pairs of parentheses": (N, _schema("f" + "()" * 90_000 + " -> Tensor")),
    "schema of spaces": (N, _schema("f(Tensor a" + " " * 180_000 + "b) -> Tensor")),
    "schema of commas": (N, _schema("f(" + "," * 180_000 + ") -> Tensor")),
    "schema of arrows": (N, _schema("f(Tensor a)" + " -> Tensor" * 18_000)),
    "schema of defaults": (N, _schema("f(int a=" + "1=" * 90_000 + ") -> Tensor")),
    "type of types": (N, _schema("f(Tensor" + "[]?" * 60_000 + "x a) -> Tensor")),
    "many wrong entries": (D, b"\n" + b"- name: foo(Tensor self) -> Tensor\n  self: grad\n" * 2000),
    "many empty entries": (D, b"\n" + b"-\n" * 20_000),
    "many misspelt types": (N, b"\n" + b"".join(b"- func: f%d(Tensr a) -> Tensor\n" % i for i in range(2000))),
    "many misspelt keys": (
        N,
        b"\n" + b"".join(b"- func: f%d(Tensor a) -> Tensor\n  vrnts: x\n" % i for i in range(2000)),
    ),
    "long number": (N, b"\n- func: f(int a) -> Tensor\n  variants: " + b"9" * 190_000 + b"\n"),
    "number in base sixty": (N, b"\n- func: f(int a) -> Tensor\n  variants: " + b"1:" * 60_000 + b"1\n"),
    "NUL": (D, b"\n\0\n"),
    "NULs": (N, b"\0" * 1_000_000),
    "control character": (D, b"\n# \x1b[2J\n"),
    "byte that is not UTF-8": (D, b"\n# \xff\n"),
    "half a character": (N, b"\n# \xe2\x80"),
    "surrogate": (D, b"\n# \xed\xa0\x80\n"),
    "UTF-16": (T, "\n- tag: x\n".encode("utf-16")),
    "byte-order mark in the middle": (D, b"\n\xef\xbb\xbf- name: x\n"),
    "path separators in a function": (N, b"\n- func: ../../etc/x(Tensor self) -> Tensor\n"),
    "path separators in a derivative": (D, b"\n- name: /etc/passwd(Tensor self) -> Tensor\n  self: grad\n"),
    "tag that runs code": (D, b"\n- !!python/object/apply:os.system ['exit 1']\n"),
    "document after the document": (D, b"\n---\n- name: x\n"),
    "number as a key": (D, b"\n- 1: x\n"),
    "null as a key": (D, b"\n- null: x\n"),
    "list as a key": (D, b"\n- [a]: x\n"),
    "time as a key": (N, b"\n- 2020-01-01: x\n"),
}

# What stands in front of a file.
BEFORE: dict[str, bytes] = {"mapping that is indented": b"  x: y\n", "text": b"x\n", "flow sequence": b"[]\n"}

# What a file is as a whole.
WHOLE: dict[str, bytes] = {
    "empty": b"",
    "comment": b"# x\n",
    "text": b"x",
    "mapping": b"a: b\n",
    "nulls": b"- \n- \n",
    "gigantic": b"# aaaaaaaaaa\n" * 5_500_000,
    "large and empty": b"# aaaaaaaaaa\n" * 2_000_000,
    "random": bytes(range(256)) * 100,
}

FORMULAS: dict[str, str] = {
    "many sizes": "self.sizes()" * 15_000,
    "open parentheses": "self" + "(" * 190_000 + ".sizes()",
    "string without end": '"' + "a" * 100_000 + ".sizes()",
    "long identifier": "a" * 190_000 + " + self.sizes()",
    "many unknown names": " + ".join(f"zz{i}" for i in range(3000)) + " + self.sizes()",
    "many gradients": " + ".join(f"grads[{i}]" for i in range(9000)),
    "many saved values": " + ".join(f"self.sym_size({i})" for i in range(7000)) + " + self.sizes()",
    "many digits": "grads[" + "9" * 100_000 + "]",
    "square brackets": "grads" + "[" * 100_000,
}


def assert_refused(project: Project, *arguments: str) -> None:
    run = run_limited(project, *arguments)
    assert run.status in (1, 2, 3), run.stderr[-500:]
    assert "Traceback" not in run.stderr, run.stderr[-1500:]
    assert "error" in run.stderr
    assert project.files() == {}


@pytest.mark.parametrize("what", ADDED)
def test_what_is_added_to_a_file_is_refused(project: Project, what: str) -> None:
    name, data = ADDED[what]
    project.path(name).write_bytes(project.path(name).read_bytes() + data)
    assert_refused(project)


def test_a_comment_of_megabytes_is_taken(project: Project) -> None:
    project.path(N).write_bytes(project.path(N).read_bytes() + b"\n# " + b"a" * 5_000_000 + b"\n")
    run = run_limited(project)
    assert run.status == 0, run.stderr


@pytest.mark.parametrize("what", BEFORE)
def test_what_stands_in_front_of_a_file_is_refused(project: Project, what: str) -> None:
    project.path(D).write_bytes(BEFORE[what] + project.path(D).read_bytes())
    assert_refused(project)


def test_what_is_put_in_front_of_a_file_later_is_refused(built: Project) -> None:
    built.path(D).write_bytes(b"  x: y\n" + built.path(D).read_bytes())
    assert built.run().status == 1


@pytest.mark.parametrize("name", [D, T])
@pytest.mark.parametrize("what", WHOLE)
def test_a_file_that_is_something_else_is_refused(project: Project, what: str, name: str) -> None:
    project.path(name).write_bytes(WHOLE[what])
    assert_refused(project)


@pytest.mark.parametrize("what", FORMULAS)
def test_a_formula_without_end_is_refused(project: Project, what: str) -> None:
    project.set_formula("mv", "vec", FORMULAS[what])
    assert_refused(project, "strict=1")


RELEASES = [b"\xff", b"\0", b"", b"x" * 1_000_000, b"2.13.0.0.0.0", b"../../x", b"-1", b"2", b"2.x"]
TEMPLATES = [b"\xff", b"${", b"${x}", b"${" * 100_000, b"x" * 5_000_000 + b"${x}", b"}" * 1000 + b"${x}"]
NAMES = ["a b", "\u00e4", "$x", "#x", "a=b", "-x", "x" * 200, "a\nb"]
REFUSED_NAMES = ["\udcff"]
VARIABLES = {"stamp": ".", "generated": "/proc/x", "cache": "/proc/x", "shards": "9" * 20}


@pytest.mark.parametrize("data", RELEASES, ids=lambda data: repr(data[:12]))
def test_a_release_that_is_none_is_refused(project: Project, data: bytes) -> None:
    (project.specs / "RELEASE").write_bytes(data)
    run = run_limited(project)
    assert "Traceback" not in run.stderr, run.stderr[-1500:]
    assert run.status == (0 if data.startswith(b"2.13.0") else 3)


@pytest.mark.parametrize("layout", ["upstream", "split"])
@pytest.mark.parametrize("data", TEMPLATES, ids=lambda data: repr(data[:12]))
def test_a_template_that_is_none_is_refused_or_filled(project: Project, data: bytes, layout: str) -> None:
    path = project.path("templates/Functions.cpp")
    path.write_bytes(data + path.read_bytes())
    run = run_limited(project, f"layout={layout}")
    assert "Traceback" not in run.stderr, run.stderr[-1500:]
    assert run.status == (0 if set(data) <= {*b"${"} else 1)  # what opens no hole is text


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "windows": lambda data: data.replace(b"\n", b"\r\n"),
    "macintosh": lambda data: data.replace(b"\n", b"\r"),
    "marked": lambda data: b"\xef\xbb\xbf" + data,
}


@pytest.mark.parametrize("change", CHANGES)
def test_line_ends_and_byte_order_marks_change_nothing(built: Project, change: str) -> None:
    before = built.files()
    for name in (D, N, T):
        built.path(name).write_bytes(CHANGES[change](built.path(name).read_bytes()))
    run = built.run()
    assert (run.status, [task for task in run.ran if ":" in task]) == (0, [])
    assert built.files() == before == built.clean_build()


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_spec_set_may_have_any_name(project: Project, name: str) -> None:
    folder = project.specs.parent / name
    project.specs.rename(folder)
    project.run(specs=folder).clean()
    assert project.run(specs=folder).ran == []


@pytest.mark.parametrize("name", REFUSED_NAMES, ids=ascii)
def test_a_spec_set_whose_name_the_cache_cannot_take_is_refused(project: Project, name: str) -> None:
    folder = project.specs.parent / name
    project.specs.rename(folder)
    run = project.run(specs=folder)
    assert (run.status, project.files()) == (3, {})
    assert "Traceback" not in run.stderr
    assert "rename" in run.stderr


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_cannot_be_is_refused(project: Project, name: str) -> None:
    run = project.run(**{name: VARIABLES[name]})
    assert run.status in (1, 2, 3)
    assert "Traceback" not in run.stderr
    assert VARIABLES[name] in run.stderr
