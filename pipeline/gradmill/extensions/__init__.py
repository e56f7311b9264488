"""What stands on the core and can be left out: each folder is one extension."""
