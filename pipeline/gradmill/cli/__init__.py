"""The program: its command line, its commands, `watch`."""
