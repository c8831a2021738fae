"""Tables can be read, prepared and written without anything that asks or answers questions."""

from tests.project.test_house import MODULES, imported_rooms, room_of


def test_tables_know_of_neither_questions_nor_what_asks_them() -> None:
    below = {"points", "errors", "_extras", "_files", "_parameters", "_resolution", "_typing"}
    for path in MODULES:
        if room_of(path) == "tables":
            assert imported_rooms(path) - {"tables"} <= below, path
