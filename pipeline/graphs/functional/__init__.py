"""Mutation and aliasing taken out of a function: what is left computes values, and says what to do outside."""
