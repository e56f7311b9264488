"""What is registered for each dispatch key: kernels of which groups of functions. Part of the stage `schemas`.

torchgen: `gen.gen_source_files`.
"""

from msgspec.structs import asdict, replace

from gradmill.model.native import RegisteredKernels
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.query.query import table
from gradmill.rules.dispatch.groups import MADE, Group, callable_for_key
from gradmill.stages.groups import Variants, groups
from gradmill.stages.native_aot import compiled_ahead
from gradmill.stages.operators import kernel_keys
from gradmill.stages.schemas import bucket_of_function, function
from gradmill.stages.selection import with_kernels
from gradmill.stages.set import release
from gradmill.stages.variants import group_of


class Registered(Variants, frozen=True, array_like=True):
    """A group of functions that has kernels for a key."""

    declared: bool  # whether a function has a kernel for the key, or a structured one stands for it

    def unit(self, name: str) -> Unit:
        """The unit of a registration, which is named by its key and first function."""
        key = name.partition(" ")[0]
        return replace(super().unit(name), title=f"{key}::{self.op}", dispatch_key=key, synthesized=not self.declared)


@table
def registrations(db: Database, bucket: str) -> dict[str, Registered]:
    """What is registered for the functions of a bucket, by dispatch key and first function."""
    found = {}
    for first, members in groups(db, bucket).items():
        group = group_of(db, members)
        if group is not None:
            for key, declared in _keys(db, group):
                found[f"{key} {first}"] = Registered(**asdict(members), declared=declared)
    return found


def _keys(db: Database, group: Group) -> list[tuple[str, bool]]:
    """The keys that something is registered for, each with whether a function has a kernel for it."""
    known, own = db.names(kernel_keys), {key for each in group.functions for key in each.dispatch}
    own.update(MADE if group.primary.structured else ())
    keys = [key for key in release(db).file_keys if key in own or key in MADE]
    found = [(key, key in own) for key in sorted(keys)]
    return [each for each in found if each[1] or (each[0] in known and any(callable_for_key(group, each[0])))]


def registered_kernels(db: Database, name: str) -> RegisteredKernels | None:
    """The functions of a group and the key, by the name of a registration; None if there are none, or no kernel of any
    function is for the key."""
    key, _, identity = name.partition(" ")
    found = registrations.item(db, bucket_of_registration(name), name)
    if found is None or key not in db.names(kernel_keys):
        return None
    functions = {each: own for each in found.functions if (own := function(db, each)) is not None}
    chosen = with_kernels(db, bucket_of_function(identity))
    omitted = (str(own.func.name) for each, own in functions.items() if chosen is not None and each not in chosen)
    ahead = compiled_ahead(db, key, next(iter(functions.values()))) if functions else None
    return RegisteredKernels(key, tuple(functions.values()), tuple(omitted), ahead)


def bucket_of_registration(name: str) -> str:
    """The bucket of a registration, by its name."""
    return bucket_of_function(name.partition(" ")[2])
