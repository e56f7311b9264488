"""The build: what doit's tasks do. Keys, the store, the state; no knowledge of operators."""
