"""Registrations of kernels, by dispatch key and first function."""

from gradmill.stages.kinds.tables import kind_of_table
from gradmill.stages.registrations import bucket_of_registration, registrations

KIND = kind_of_table(registrations, bucket_of_registration)
