"""`python -m casetape`."""

from casetape.cli import main

if __name__ == "__main__":
    main()
