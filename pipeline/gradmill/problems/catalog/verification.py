"""The names of the rules that only `gradmill verify` reports. `verification.toml` has their meaning."""

VERIFICATION = WRONG, DIFFERENT, INFINITE, UNCHECKED = (
    "wrong-derivative",
    "not-as-torch",
    "not-finite",
    "not-verified",
)
