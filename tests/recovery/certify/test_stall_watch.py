"""When a run under a guessed margin stops asking."""

from samecluster.recovery.certify.stall_watch import StallWatch

WINDOW = 2 * (3 + 1) + 10  # questions, in three columns


def history(gain: float, level_size: int, start: bool = True) -> list[bool]:
    """What the watch says after each of 60 questions, each of which labels ``gain`` points."""
    watch = StallWatch(3)
    if start:
        watch.start(5, 100)
    return [watch.look(5 + n, int(100 + gain * n), level_size) for n in range(60)]


def test_it_stops_a_window_after_questions_prove_less_than_two_points_each() -> None:
    assert history(1.9, 1000).index(True) == WINDOW
    assert not any(history(2.0, 1000))


def test_of_many_points_a_question_must_prove_a_share() -> None:
    assert history(9.9, 50_000).index(True) == WINDOW
    assert not any(history(10, 50_000))


def test_it_says_nothing_before_the_reach_has_stalled() -> None:
    assert not any(history(0, 1000, start=False))


def test_stopped_is_for_good_and_only_the_first_start_counts() -> None:
    watch = StallWatch(3)
    watch.start(0, 0)
    watch.start(WINDOW, 0)
    assert watch.look(WINDOW, 0, 100)
    assert watch.stopped
    assert watch.look(WINDOW + 1, 10_000, 100)


def test_progress_counts_from_the_latest_step_before_the_window() -> None:
    watch = StallWatch(3)
    watch.start(0, 0)
    assert not watch.look(10, 500, 1000)
    assert not watch.look(WINDOW, 500, 1000), "500 points since the start"
    assert watch.look(WINDOW + 10, 500, 1000), "none since question 10"
