"""The engine alone: toy queries, no spec."""
