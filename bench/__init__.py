"""The benchmark: gradmill against torchgen. See `python -m bench --help`."""
