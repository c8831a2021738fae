"""``python -m samecluster`` is the command ``samecluster``."""

from samecluster.cli.main import main

main()
