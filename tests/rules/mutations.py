"""Mutations of rules and stages: each one must fail a default test, most of them the comparison with torchgen.

python -m tests.campaigns code --only rules
"""

from __future__ import annotations

from tests.query.mutations import Mutation

EQUALITY = ("tests/stages/test_equality.py",)
ODD = ("tests/families/test_odd.py",)
TYPED = ("tests/lsp/test_bad.py",)
OF_OPERATORS = ("tests/families/test_operator_headers.py",)

OUTPUTS, FOREACH, INPLACE = (f"rules/matching/{name}.py" for name in ("differentiability", "foreach", "inplace"))
NAMING, SAVED, BACKWARD = "rules/matching/naming.py", "rules/derivatives/saved.py", "rules/derivatives/backward.py"
FORWARD, INFO, NAMES = "rules/derivatives/forward.py", "rules/derivatives/info.py", "rules/native/python_names.py"
TRACED, RESULTS, HEADS = "rules/native/tracing.py", "rules/native/structseqs.py", "rules/native/heads.py"
GUARDS, MATCH, UNITS = "rules/kernels/derivative.py", "stages/match.py", "stages/units.py"

TABLE = [
    # ---- Nodes: their names, formulas, saved attributes
    (Mutation(NAMING, "self._counts[prefix] = number + 1", "self._counts[prefix] = number"), EQUALITY),
    (Mutation(NAMING, '.replace("ForwardBackward", "Backward")', ""), EQUALITY),
    (Mutation(SAVED, "for rewrite in marked if is_word else rewrites:", "for rewrite in ():"), EQUALITY),
    (Mutation(SAVED, "saved.append(SavedAttribute(candidate.name, candidate.type, name))", "pass"), EQUALITY),
    (Mutation(BACKWARD, "named = tuple(sorted({name", "named = () and tuple(sorted({name"), EQUALITY),
    (Mutation(INFO, "return tuple(first.values())", "return tuple(saved)"), EQUALITY),
    # ---- forward derivatives
    (Mutation(FORWARD, "        return (returns[0].type,)", '        return ("Tensor[]",)'), EQUALITY),
    (Mutation(INPLACE, "match is not None and match.group(1) == operator and", "False and"), EQUALITY),
    (Mutation(FORWARD, "is neither an input nor an output of the op", "is no input or output of the op"), TYPED),
    # ---- matching
    (Mutation(FOREACH, "and name not in release.foreach_skip_length", ""), EQUALITY),
    (Mutation(FOREACH, "(others if inplace else ())", "()"), EQUALITY),
    (Mutation(MATCH, 'if head.generated and head.kind == "out":', "if False:"), EQUALITY),
    (Mutation(MATCH, "if not head.is_foreach and head.plain_signature in self._functional:", "if False:"), EQUALITY),
    # ---- differentiability
    (Mutation(OUTPUTS, "name not in declared.non_differentiable", "True"), EQUALITY),
    (Mutation(OUTPUTS, "differentiable[:1] if declared", "differentiable if declared"), EQUALITY),
    (Mutation(OUTPUTS, "function.is_abstract or any(", "any("), EQUALITY),
    # ---- kernels, views, Python
    (Mutation(GUARDS, "    if len(users) != 1:\n        return None\n", ""), ODD),
    (Mutation(HEADS, "and not r.is_write for r in schema.returns", "and r.is_write for r in schema.returns"), ODD),
    (Mutation(NAMES, "if head.generated and not head.view_copy:", "if False:"), ODD),
    (Mutation(RESULTS, "if key not in earlier else None", "if key in earlier else None"), ODD),
    (Mutation(TRACED, "schema.name.base not in release.unrecorded", "True"), ODD),
    (Mutation("families/kernel_headers/files.py", ", optional=META)", ")"), OF_OPERATORS),
]  # fmt: skip
MUTATIONS = [mutation for mutation, _ in TABLE]
