"""`python -m polychron`: Polychron's command."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes the command, which is beside this file."""
    command = Path(__file__).with_name("bin") / "polychron"
    if not command.exists():
        sys.exit("polychron: this build of the package has no command: install the wheel")
    os.execv(command, [str(command), *sys.argv[1:]])


if __name__ == "__main__":
    main()
