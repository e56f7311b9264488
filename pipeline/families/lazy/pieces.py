"""The names of the pieces of a function of the lazy backend."""

NODE, KERNEL = "node", "kernel"
DECLARATION, AUTOGRAD_DECLARATION = "declaration", "autograd_declaration"  # of a kernel
WRAPPER, REGISTRATION = "wrapper", "registration"
SHAPE_FUNCTION = "shape_function"  # printed nowhere: a header must have this declaration
