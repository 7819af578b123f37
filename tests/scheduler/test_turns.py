"""Whose turn it is: classes, the window, and teams whose tasks are of different sizes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from models import QueueClass, Shard
from scheduler.turns import INTERACTIVE_EXTRA, Accounts, InFlight, Turn, Window, allot

INTERACTIVE, CAMPAIGN, NIGHTLY = (int(each) for each in QueueClass)


def window(places: int, short_places: int = 0, seconds: float = 1e9) -> Window:
    return Window(places, short_places, seconds, nightly_share=8)


def test_interactive_work_goes_first_and_has_places_of_its_own() -> None:
    waiting = {(CAMPAIGN, "a"): [1.0] * 100, (INTERACTIVE, "b"): [1.0]}
    assert allot(waiting, {}, InFlight(), window(4)) == {(INTERACTIVE, "b"): 1, (CAMPAIGN, "a"): 3}
    full = InFlight(tasks=4)
    assert allot({(INTERACTIVE, "b"): [1.0] * 9}, {}, full, window(4)) == {(INTERACTIVE, "b"): INTERACTIVE_EXTRA}


def test_teams_take_turns() -> None:
    waiting = {(CAMPAIGN, "large"): [1.0] * 1000, (CAMPAIGN, "small"): [1.0] * 3}
    assert allot(waiting, {}, InFlight(), window(8)) == {(CAMPAIGN, "large"): 5, (CAMPAIGN, "small"): 3}
    # Who has had more waits.
    assert allot(waiting, {(CAMPAIGN, "large"): 6.0}, InFlight(), window(2)) == {(CAMPAIGN, "small"): 2}


def test_dear_tasks_take_more_of_a_turn() -> None:
    waiting = {(CAMPAIGN, "dear"): [5.0] * 10, (CAMPAIGN, "cheap"): [1.0] * 100}
    assert allot(waiting, {}, InFlight(), window(12)) == {(CAMPAIGN, "dear"): 2, (CAMPAIGN, "cheap"): 10}


def test_a_place_is_kept_for_nightly_work() -> None:
    a, n = (CAMPAIGN, "a"), (NIGHTLY, "n")
    assert allot({a: [1.0] * 100, n: [1.0] * 100}, {}, InFlight(), window(16)) == {a: 14, n: 2}
    assert allot({a: [1.0] * 100, n: [1.0] * 100}, {}, InFlight(tasks=2, nightly=2), window(16)) == {a: 14}
    assert allot({n: [1.0] * 100}, {}, InFlight(), window(16)) == {n: 16}
    assert allot({a: [1.0] * 100}, {}, InFlight(), window(16)) == {a: 16}


def test_more_places_are_for_short_tasks() -> None:
    a = (CAMPAIGN, "a")
    assert allot({a: [0.1] * 100}, {}, InFlight(), window(4, 8, seconds=8.0)) == {a: 8}
    assert allot({a: [2.0] * 100}, {}, InFlight(), window(4, 8, seconds=8.0)) == {a: 4}
    assert allot({a: [4.0] * 100}, {}, InFlight(), window(4, 8, seconds=8.0)) == {a: 4}
    assert allot({a: [0.1] * 100}, {}, InFlight(tasks=4, seconds=9.0), window(4, 8, seconds=8.0)) == {}


costs = st.floats(0.001, 10)
turns = st.tuples(st.sampled_from([INTERACTIVE, CAMPAIGN, NIGHTLY]), st.sampled_from("abc"))


@given(
    waiting=st.dictionaries(turns, st.lists(costs, max_size=30)),
    served=st.dictionaries(turns, st.floats(0, 100)),
    tasks=st.integers(0, 25),
    places=st.integers(1, 20),
)
def test_the_window_holds_and_is_filled(
    waiting: dict[Turn, list[float]], served: dict[Turn, float], tasks: int, places: int
) -> None:
    given_out = Counter(allot(waiting, served, InFlight(tasks), window(places)))
    assert all(0 < count <= len(waiting[turn]) for turn, count in given_out.items())
    assert tasks + given_out.total() <= max(tasks, places + INTERACTIVE_EXTRA)
    if any(turn[0] != INTERACTIVE for turn in given_out):
        assert tasks + sum(count for turn, count in given_out.items() if turn[0] != INTERACTIVE) <= places
    if any(waiting.values()) and tasks < places:
        assert given_out


@given(
    sizes=st.lists(costs, min_size=2, max_size=10),
    wrong=st.lists(st.floats(0.5, 2.0), min_size=1, max_size=20),
    processes=st.integers(1, 4),
)
def test_of_teams_that_always_want_something_none_gets_less_than_its_share(
    sizes: list[float], wrong: list[float], processes: int
) -> None:
    """Whatever their tasks take, and though the estimates are wrong by a factor of two: all get the same seconds."""
    teams = {(CAMPAIGN, str(number)): size for number, size in enumerate(sizes)}
    accounts, got, running, sent = Accounts(), Counter[Turn](), list[tuple[float, int, Turn]](), 0
    for moment in range(400):
        costs_of = {turn: [size] * 8 for turn, size in teams.items()}
        held = InFlight(len(running))
        for turn, count in allot(costs_of, accounts.served(teams), held, window(processes)).items():
            for _ in range(count):
                accounts.charge((Shard, sent), turn, teams[turn])
                running.append((moment + teams[turn] * wrong[sent % len(wrong)], sent, turn))
                sent += 1
        # The next that ends makes a place.
        running.sort()
        _, key, turn = running.pop(0)
        took = teams[turn] * wrong[key % len(wrong)]
        accounts.settle((Shard, key), took)
        got[turn] += took
    # A task is never cut: so one may be ahead by what is in its hands.
    largest = 2 * max(sizes)
    assert min(got[turn] for turn in teams) >= max(got.values()) - (processes + 1) * largest


def test_who_comes_back_neither_makes_up_for_the_time_nor_pays() -> None:
    a, b = (CAMPAIGN, "a"), (CAMPAIGN, "b")
    accounts = Accounts()
    accounts.served([a])
    for key in range(100):
        accounts.charge((Shard, key), a, 1.0)
    # b was never there: it begins where a is.
    assert dict(accounts.served([a, b])) == {a: 100.0, b: 100.0}
    accounts.charge((Shard, 100), b, 7.0)
    assert dict(accounts.served([a])) == {a: 100.0, b: 107.0}
    # It has had more than a and still has, however short it is away.
    assert accounts.served([a, b])[b] == 107.0
    accounts.charge((Shard, 101), a, 50.0)
    assert dict(accounts.served([a])) == {a: 150.0}
    assert accounts.served([a, b])[b] == 150.0


def test_all_begin_anew_when_nobody_waits() -> None:
    a, b, other = (CAMPAIGN, "a"), (CAMPAIGN, "b"), (NIGHTLY, "a")
    accounts = Accounts()
    accounts.served([a, b, other])
    accounts.charge((Shard, 1), a, 30.0)
    accounts.charge((Shard, 2), other, 5.0)
    # Nothing of campaigns waits.
    accounts.served([other])
    assert accounts.served([a, b, other]) == {a: 30.0, b: 30.0, other: 5.0}
    accounts.charge((Shard, 3), b, 1.0)
    accounts.nobody_waits()
    assert accounts.served([a, b, other]) == {a: 31.0, b: 31.0, other: 5.0}
    # What ends now was sent before.
    accounts.settle((Shard, 3), 100.0)


def test_a_task_counts_once_and_as_long_as_it_took() -> None:
    a = (CAMPAIGN, "a")
    accounts = Accounts()
    accounts.served([a])
    accounts.charge((Shard, 1), a, 5.0)
    accounts.charge((Shard, 1), a, 5.0)
    assert accounts.served([a])[a] == 5.0
    assert list(accounts.open) == [(Shard, 1)]
    accounts.settle((Shard, 1), 2.0)
    assert accounts.served([a])[a] == 2.0
    assert not accounts.open
