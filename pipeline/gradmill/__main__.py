"""`python -m gradmill` is `gradmill`."""

from gradmill.cli.start.command import run

if __name__ == "__main__":
    run()
