"""`python -m gradmill` is `gradmill`."""

from gradmill.front.start.command import run

if __name__ == "__main__":
    run()
