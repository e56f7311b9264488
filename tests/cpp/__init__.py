"""The core Nodes as a library with operators of tests, and the cases on which kernels are compared with torch's."""
