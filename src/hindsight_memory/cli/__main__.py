"""``python -m hindsight_memory.cli`` is the command ``hindsight-memory``."""

from hindsight_memory.cli import main

if __name__ == "__main__":
    main()
