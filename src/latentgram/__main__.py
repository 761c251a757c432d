"""`python -m latentgram` is the command line."""

import sys

if __name__ == "__main__":
    try:
        from latentgram.cli.main import main
    except KeyboardInterrupt:
        print("latentgram: interrupted", file=sys.stderr)
        sys.exit(130)
    main()
