"""Real models as graphs: exported, generated, compiled, compared with eager, trained, measured."""
