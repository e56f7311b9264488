"""The process that loads a library of formulas and checks them. It imports torch, and hardly anything of `pipeline`."""
