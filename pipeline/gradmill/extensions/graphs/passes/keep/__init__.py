"""What the forward keeps for the backward, and what the backward computes again."""
