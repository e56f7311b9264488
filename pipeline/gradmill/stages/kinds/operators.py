"""Operators, by base name, each with all functions of that name."""

from gradmill.grammar.buckets import bucket_of
from gradmill.stages.kinds.tables import kind_of_table
from gradmill.stages.operators import operators

KIND = kind_of_table(operators, bucket_of)
