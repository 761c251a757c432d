"""`python -m latentgram` is the command line."""

from latentgram.cli.main import main

if __name__ == "__main__":
    main()
