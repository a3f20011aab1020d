"""`python -m bytenet`, the same as the command `bytenet`."""

from bytenet.cli import main

if __name__ == "__main__":
    main()
