"""What changed in autograd between two spec sets: read as facts, compared once, rendered three ways."""
