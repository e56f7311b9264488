"""Functions that are printed together: variants before views before single functions."""

from gradmill.model.units import Unit
from gradmill.model.views import KINDS
from gradmill.stages.groups import bucket_of_printed, printed
from gradmill.stages.kinds.tables import kind_of_table


def by_kind(units: list[Unit]) -> list[Unit]:
    """The units in the order of the kinds."""
    return sorted(units, key=lambda unit: [not unit.name.startswith(kind) for kind in KINDS])


KIND = kind_of_table(printed, bucket_of_printed, by_kind)
