"""In-place operators and views, as PyTorch's note on them has it, over whatever kernels are in the process.

`GRADMILL_KERNELS=library.so pytest tests/views` loads a library whose kernels take the place of torch's.
"""
