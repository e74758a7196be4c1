"""`python -m tertulia` is the command `tertulia`."""

from tertulia.cli import main

if __name__ == "__main__":
    main()
