"""The changes that a description makes to the facts of a release."""

from __future__ import annotations

from gradmill.releases.model import OWN_KERNEL, Change
from gradmill.specs.layers.description import Description

# The facts that a description changes: lists of functions, by operator, base name or C++ name; and of dispatch keys.
OF_FUNCTIONS = tuple(
    """
    functional_without_out mutable_without_out out_without_functional inplace_ungrouped complex_differentiable
    dont_require_derivative views metadata_views made_of_views aliases_not_views manual_kernels manual_backend
    resets_accumulator dont_enforce_same_tensor_impl_or_storage dont_enforce_tensor_impl_use_count
    dont_enforce_storage_impl_use_count foreach_without_derivatives foreach_of_other_arity foreach_inplace_reference
    foreach_tensor_overload foreach_skip_length unrecorded recorded_as
    """.split()
)
OF_KEYS = ("kernel_keys", "autograd_keys", "dispatch_keys", "structured_keys")
LISTS = (*OF_FUNCTIONS, *OF_KEYS)
TABLES = ("views", "recorded_as")  # those with a value for each member


def changes_of(description: Description) -> list[Change]:
    """The changes that a description makes to a release's facts; those of unknown lists are reported elsewhere."""
    changes = [Change("described", set=True)]
    for facts in description.facts:
        changes += [Change(field, members) for field, members in facts.add.items() if field in LISTS]
    for rules in description.family.values():
        changes.append(Change("left_out", rules.leave_out))
        if rules.slots or rules.keys or any(file.slots for file in rules.file.values()):
            changes.append(Change("left_out", (OWN_KERNEL,)))  # kernels are registered for a backend
    return changes
