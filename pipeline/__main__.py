"""`python -m pipeline` is `gradmill`."""

from pipeline.front.start.command import run

if __name__ == "__main__":
    run()
