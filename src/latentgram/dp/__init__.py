"""Dynamic programs: numba kernels, arrays in, arrays out, no classes."""
