"""The rule of warnings about graphs."""

from gradmill.problems.catalog.rule import Rule

RULES = (
    Rule(
        "lost-backward",
        "An exported model applies a torch.autograd.Function. torch.export writes the operators of its forward and not"
        " its backward, so the graph has the gradients of the forward.",
        "    return Rounded.apply(x)",
        "    return torch.ops.mine.rounded(x)",
        "model.py",
        "0.2.0",
    ),
)
