"""Functions with kernels of autograd, in the order in which kernels are printed."""

from gradmill.families.family import Family
from gradmill.model.units import Unit
from gradmill.query.database import Database
from gradmill.stages.kinds import functions
from gradmill.stages.kinds.functions import all_selected
from gradmill.stages.layered.participation import ordered


def listed(db: Database, family: Family) -> list[Unit]:
    """All functions with kernels that the family selects."""
    chosen = all_selected(db, family)
    return [unit for _, unit in ordered(db, chosen, lambda each: each[1].name, lambda each: each[0])]


KIND = functions.KIND._replace(listed=listed)
