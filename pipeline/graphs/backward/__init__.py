"""The backward of a functional graph: which calls have gradients, what is saved for them."""
