"""`python -m pipeline` is `gradmill`."""

from pipeline.front.main import run

if __name__ == "__main__":
    run()
