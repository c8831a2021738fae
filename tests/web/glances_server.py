"""``python -m tests.web.glances_server``: the command, which also knows the method of tests that
asks by looks only."""

from samecluster.cli.main import main
from tests.cases.look_cases import GLANCES

if __name__ == "__main__":
    assert GLANCES
    main()
