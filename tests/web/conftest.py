"""Links go to a folder of the test's own, never to the user's."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
