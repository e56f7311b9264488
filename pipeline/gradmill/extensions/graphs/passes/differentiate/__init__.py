"""The backward of a functional graph: which calls have gradients, and what the forward saves for them."""
