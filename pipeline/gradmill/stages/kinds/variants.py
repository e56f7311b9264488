"""Groups of variants, by their first function."""

from gradmill.stages.groups import groups
from gradmill.stages.kinds.tables import kind_of_table
from gradmill.stages.schemas import bucket_of_function

KIND = kind_of_table(groups, bucket_of_function)
