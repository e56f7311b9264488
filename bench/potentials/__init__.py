"""Interatomic potentials as graphs: energies, forces and stresses, and training on them."""
