"""A server that is killed and started again on the same port, as after a power cut."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.web.served import Data, link_of, start_process


@dataclass
class Killable:
    """A server in a process of its own."""

    data: Data
    link: str = field(init=False)

    def __post_init__(self) -> None:
        self._process = start_process(self.data)
        self.link = link_of(self._process)

    @property
    def base(self) -> str:
        return self.link.partition("/join")[0]

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def start_again(self) -> None:
        self._process = start_process(self.data, "--port", self.base.rpartition(":")[2])
        link_of(self._process)


@contextlib.contextmanager
def killable(data: Data) -> Iterator[Killable]:
    server = Killable(data)
    try:
        yield server
    finally:
        with contextlib.suppress(ValueError):  # killed already, its output is closed
            server.kill()
