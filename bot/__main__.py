"""`python -m bot` is `haechi`."""

from bot.cli import main

if __name__ == "__main__":
    main()
