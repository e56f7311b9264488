"""PyTorch's own generator in a checkout, compared with the release's. Part of the stage `specs`.

gradmill runs none of these files: an edit of them changes what PyTorch's script writes, and not what gradmill writes.
"""

from __future__ import annotations

from gradmill.problems.problem import Problem
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.specs.location import CHECKOUT_TEMPLATES
from gradmill.stages.set import generator_label, spec_set, version

_SHOWN = 4  # files that the warning names


@query
def changed(db: Database) -> list[str]:
    """The files of a checkout's generator that differ from the release's, or that it lacks; none if it has no file of a
    generator. Reports a warning that lists them."""
    if spec_set(db).comment != CHECKOUT_TEMPLATES:
        return []
    from gradmill.releases.names import digest_of_source, generator_of  # it reads tables; only checkouts need it

    release = version(db)
    digests = generator_of(release)
    texts = {path: db.input(generator_label(path)) for path in digests}
    if not any(texts.values()):
        return []
    paths = [path for path, text in texts.items() if text is None or digest_of_source(text) != digests[path]]
    if paths:
        names = [path if texts[path] is not None else f"{path} (missing)" for path in paths[:_SHOWN]]
        names += [f"and {len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else []
        problem = f"the generator is not that of PyTorch {release}, whose output gradmill writes: {', '.join(names)}"
        hint = "compare the output with this generator's: docs/pytorch.md, which gradmill for which commit"
        file = next((path for path in paths if texts[path] is not None), paths[0])
        db.report(Problem("generator", "", "", problem, hint, warning=True, file=file, rule="changed-generator"))
    return paths
