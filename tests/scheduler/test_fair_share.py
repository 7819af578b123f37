"""Whose turn it is: classes, the window, and teams whose tasks are of different sizes."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.queue.kinds.shards import SHARD
from models.schema.states import QueueClass
from scheduler import fair_share
from scheduler.fair_share import (
    INTERACTIVE_EXTRA,
    MAX_SAVED,
    FairShareKey,
    InFlight,
    ServiceAccounting,
    Window,
    class_shares,
)

INTERACTIVE, CAMPAIGN, NIGHTLY = (int(each) for each in QueueClass)


def window(places: int, short_places: int = 0, seconds: float = 1e9) -> Window:
    return Window(places, short_places, seconds, SHARES)


def allot(
    waiting: Mapping[FairShareKey, Sequence[float]],
    served: Mapping[FairShareKey, float],
    lag: Mapping[int, float],
    held: InFlight,
    window: Window,
) -> Counter[FairShareKey]:
    """How many tasks of each go."""
    return Counter(fair_share.allocate(waiting, served, lag, held, window))


SHARES = class_shares(campaign=4, nightly=8)
NO_LAG: Mapping[int, float] = {}


def test_shares_are_parts_of_a_whole() -> None:
    assert SHARES == {INTERACTIVE: 5 / 8, CAMPAIGN: 1 / 4, NIGHTLY: 1 / 8}


def test_interactive_work_goes_first_and_has_places_of_its_own() -> None:
    waiting = {(CAMPAIGN, "a"): [1.0] * 100, (INTERACTIVE, "b"): [1.0]}
    assert allot(waiting, {}, NO_LAG, InFlight(), window(4)) == {(INTERACTIVE, "b"): 1, (CAMPAIGN, "a"): 3}
    much = {(INTERACTIVE, "b"): [1.0] * 9}
    # Others had the window.
    assert allot(much, {}, {INTERACTIVE: MAX_SAVED}, InFlight(4), window(4)) == {(INTERACTIVE, "b"): INTERACTIVE_EXTRA}
    # It has filled the window itself.
    assert allot(much, {}, {INTERACTIVE: -0.1}, InFlight(4), window(4)) == {}
    assert allot(much, {}, {INTERACTIVE: -0.1}, InFlight(3), window(4)) == {(INTERACTIVE, "b"): 1}


def test_teams_take_turns() -> None:
    waiting = {(CAMPAIGN, "large"): [1.0] * 1000, (CAMPAIGN, "small"): [1.0] * 3}
    assert allot(waiting, {}, NO_LAG, InFlight(), window(8)) == {(CAMPAIGN, "large"): 5, (CAMPAIGN, "small"): 3}
    # Who has had more waits.
    assert allot(waiting, {(CAMPAIGN, "large"): 6.0}, NO_LAG, InFlight(), window(2)) == {(CAMPAIGN, "small"): 2}


def test_dear_tasks_take_more_of_a_turn() -> None:
    waiting = {(CAMPAIGN, "dear"): [5.0] * 10, (CAMPAIGN, "cheap"): [1.0] * 100}
    assert allot(waiting, {}, NO_LAG, InFlight(), window(12)) == {(CAMPAIGN, "dear"): 2, (CAMPAIGN, "cheap"): 10}


def test_nightly_work_gets_its_share_of_a_window() -> None:
    a, n = (CAMPAIGN, "a"), (NIGHTLY, "n")
    assert allot({a: [1.0] * 100, n: [1.0] * 100}, {}, NO_LAG, InFlight(), window(16)) == {a: 14, n: 2}
    # Seconds count, not tasks.
    assert allot({a: [1.0] * 100, n: [0.125] * 100}, {}, NO_LAG, InFlight(), window(16)) == {a: 7, n: 9}
    assert allot({n: [1.0] * 100}, {}, {NIGHTLY: -9.0}, InFlight(), window(16)) == {n: 16}
    assert allot({a: [1.0] * 100}, {}, {CAMPAIGN: -9.0}, InFlight(), window(16)) == {a: 16}


def test_more_places_are_for_short_tasks() -> None:
    a = (CAMPAIGN, "a")
    assert allot({a: [0.1] * 100}, {}, NO_LAG, InFlight(), window(4, 8, seconds=8.0)) == {a: 8}
    assert allot({a: [2.0] * 100}, {}, NO_LAG, InFlight(), window(4, 8, seconds=8.0)) == {a: 4}
    assert allot({a: [4.0] * 100}, {}, NO_LAG, InFlight(), window(4, 8, seconds=8.0)) == {a: 4}
    assert allot({a: [0.1] * 100}, {}, NO_LAG, InFlight(tasks=4, seconds=9.0), window(4, 8, seconds=8.0)) == {}


costs = st.floats(0.001, 10)
each_turn = st.tuples(st.sampled_from([INTERACTIVE, CAMPAIGN, NIGHTLY]), st.sampled_from("abc"))


@given(
    waiting=st.dictionaries(each_turn, st.lists(costs, max_size=30)),
    served=st.dictionaries(each_turn, st.floats(0, 100)),
    lag=st.dictionaries(st.sampled_from([INTERACTIVE, CAMPAIGN, NIGHTLY]), st.floats(-10, 10)),
    tasks=st.integers(0, 25),
    places=st.integers(1, 20),
)
def test_the_window_holds_and_is_filled(
    waiting: dict[FairShareKey, list[float]],
    served: dict[FairShareKey, float],
    lag: dict[int, float],
    tasks: int,
    places: int,
) -> None:
    given_out = allot(waiting, served, lag, InFlight(tasks), window(places))
    assert all(0 < count <= len(waiting[turn]) for turn, count in given_out.items())
    assert tasks + given_out.total() <= max(tasks, places + INTERACTIVE_EXTRA)
    if any(turn[0] != INTERACTIVE for turn in given_out):
        assert tasks + sum(count for turn, count in given_out.items() if turn[0] != INTERACTIVE) <= places
    if any(waiting.values()) and tasks < places:
        assert given_out


def keep_busy(
    mix: Mapping[FairShareKey, list[float]],
    places: int,
    processes: int,
    wrong: list[float],
    order: list[int],
    tasks: int,
) -> tuple[ServiceAccounting, list[tuple[FairShareKey, float]]]:
    """Let so many tasks end while tasks of all these keys always wait; key and seconds of each, as they ended.

    Their estimates are `wrong` by these factors. Workers take tasks from the window by `order`, wherever they stand.
    """
    accounts, sent, ended = ServiceAccounting(SHARES), 0, list[tuple[FairShareKey, float]]()
    flying, running = list[tuple[int, FairShareKey, float]](), list[tuple[float, int, FairShareKey, float]]()
    time = 0.0
    for moment in range(tasks):
        waiting = {
            turn: [sizes[(sent + place) % len(sizes)] for place in range(2 * places)] for turn, sizes in mix.items()
        }
        held = InFlight(len(flying) + len(running), sum(each[-1] for each in (*flying, *running)))
        for turn in fair_share.allocate(waiting, accounts.served(waiting), accounts.lag, held, window(places)):
            cost = waiting[turn].pop(0)
            accounts.charge((SHARD, sent), turn, cost)
            flying.append((sent, turn, cost))
            sent += 1
        assert len(flying) + len(running) >= places, "a place is idle though there is work"
        while flying and len(running) < processes:
            key, turn, cost = flying.pop(order[(moment + len(running)) % len(order)] % len(flying))
            running.append((time + cost * wrong[key % len(wrong)], key, turn, cost))
        running.sort()
        time, key, turn, cost = running.pop(0)
        took = cost * wrong[key % len(wrong)]
        accounts.settle((SHARD, key), took)
        ended.append((turn, took))
    return accounts, ended


sizes = st.lists(costs, min_size=1, max_size=4)


@given(
    mix=st.dictionaries(each_turn, sizes, min_size=1, max_size=6),
    places=st.integers(1, 20),
    processes=st.integers(1, 10),
    wrong=st.lists(st.floats(0.5, 2.0), min_size=1, max_size=7),
    order=st.lists(st.integers(0, 20), min_size=1, max_size=5),
)
@example({(INTERACTIVE, "a"): [1.0], (NIGHTLY, "a"): [1.0]}, 8, 4, [1.0], [0])
@example({(INTERACTIVE, "a"): [1.0], (CAMPAIGN, "a"): [1.0], (NIGHTLY, "a"): [1.0]}, 16, 8, [1.0], [0])
@example({(INTERACTIVE, "a"): [0.1], (CAMPAIGN, "a"): [2.0], (NIGHTLY, "a"): [2.0]}, 1, 1, [1.0], [0])
def test_every_class_that_waits_gets_its_share_in_any_mix_and_any_window(
    mix: dict[FairShareKey, list[float]], places: int, processes: int, wrong: list[float], order: list[int]
) -> None:
    """In seconds, up to what is in flight: whatever the tasks take, and whichever the workers take first."""
    accounts, ended = keep_busy(mix, places, processes, wrong, order, 400)
    classes = {turn[0] for turn in mix}
    longest = max(max(sizes) for sizes in mix.values()) * max(*wrong, 1.0)
    # What was sent, with what is in flight as it is estimated: a task is never cut.
    assert all(accounts.lag[each] <= longest for each in classes), accounts.lag
    seconds = Counter[int]()
    for turn, took in ended:
        seconds[turn[0]] += took
    unfinished = (places + INTERACTIVE_EXTRA + 2) * longest
    for each in classes:
        assert seconds[each] >= SHARES[each] * seconds.total() - unfinished, seconds


@pytest.mark.parametrize("places", [1, 2, 3, 4, 8, 12, 16, 64])
@pytest.mark.parametrize("classes", [(0, 1, 2), (0, 2), (1, 2), (0, 1)])
def test_shares_of_tasks_that_are_alike(places: int, classes: tuple[int, ...]) -> None:
    _, ended = keep_busy({(each, "t"): [1.0] for each in classes}, places, max(1, places // 2), [1.0], [0], 800)
    steady = Counter(turn[0] for turn, _ in ended[80:])
    for each in classes[1:]:
        assert steady[each] >= SHARES[each] * 720 - 1
        assert steady[each] <= SHARES[each] * 720 + 1, "the rest is for the most urgent"


def test_who_had_all_since_nobody_else_wanted_it_pays_for_one_task_at_most() -> None:
    nightly, interactive = (NIGHTLY, "n"), (INTERACTIVE, "i")
    accounts = ServiceAccounting(SHARES)
    accounts.served([nightly])
    for key in range(1000):
        accounts.charge((SHARD, key), nightly, 1.0)
    assert accounts.lag[NIGHTLY] == -7 / 8
    # Who wants nothing saves a task, and no more.
    assert accounts.lag[INTERACTIVE] == accounts.lag[CAMPAIGN] == MAX_SAVED
    accounts.served([nightly, interactive])
    for key in range(1000, 1008):
        accounts.charge((SHARD, key), interactive, 1.0)
    assert accounts.lag[NIGHTLY] >= 0


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
    accounts, got, running, sent = (
        ServiceAccounting(SHARES),
        Counter[FairShareKey](),
        list[tuple[float, int, FairShareKey]](),
        0,
    )
    for moment in range(400):
        costs_of = {turn: [size] * 8 for turn, size in teams.items()}
        held = InFlight(len(running))
        served = accounts.served(teams)
        for turn, count in allot(costs_of, served, accounts.lag, held, window(processes)).items():
            for _ in range(count):
                accounts.charge((SHARD, sent), turn, teams[turn])
                running.append((moment + teams[turn] * wrong[sent % len(wrong)], sent, turn))
                sent += 1
        # The next that ends makes a place.
        running.sort()
        _, key, turn = running.pop(0)
        took = teams[turn] * wrong[key % len(wrong)]
        accounts.settle((SHARD, key), took)
        got[turn] += took
    # A task is never cut: so one may be ahead by what is in its hands.
    largest = 2 * max(sizes)
    assert min(got[turn] for turn in teams) >= max(got.values()) - (processes + 1) * largest


def test_who_comes_back_neither_makes_up_for_the_time_nor_pays() -> None:
    a, b = (CAMPAIGN, "a"), (CAMPAIGN, "b")
    accounts = ServiceAccounting(SHARES)
    accounts.served([a])
    for key in range(100):
        accounts.charge((SHARD, key), a, 1.0)
    # b was never there: it begins where a is.
    assert dict(accounts.served([a, b])) == {a: 100.0, b: 100.0}
    accounts.charge((SHARD, 100), b, 7.0)
    assert dict(accounts.served([a])) == {a: 100.0, b: 107.0}
    # It has had more than a and still has, however short it is away.
    assert accounts.served([a, b])[b] == 107.0
    accounts.charge((SHARD, 101), a, 50.0)
    assert dict(accounts.served([a])) == {a: 150.0}
    assert accounts.served([a, b])[b] == 150.0
    accounts.charge((SHARD, 102), b, 10.0)
    c = (CAMPAIGN, "c")
    assert accounts.served([a, b, c])[c] == 150.0, "it begins with whoever has had least"


def test_accounts_start_again_when_nobody_waits() -> None:
    a, b, other = (CAMPAIGN, "a"), (CAMPAIGN, "b"), (NIGHTLY, "a")
    accounts = ServiceAccounting(SHARES)
    accounts.served([a, b, other])
    accounts.charge((SHARD, 1), a, 30.0)
    accounts.charge((SHARD, 2), other, 5.0)
    # Nothing of campaigns waits.
    accounts.served([other])
    assert accounts.served([a, b, other]) == {a: 30.0, b: 30.0, other: 5.0}
    accounts.charge((SHARD, 3), b, 1.0)
    accounts.reset()
    assert accounts.served([a, b, other]) == {a: 31.0, b: 31.0, other: 5.0}
    # What ends now was sent before.
    accounts.settle((SHARD, 3), 100.0)
    # It was sent for one of whom nothing waits, and nothing is in flight any more.
    accounts.reset()
    accounts.settle((SHARD, 1), 90.0)
    assert accounts.served([a, other]) == {a: 130.0, other: 5.0}


def test_a_task_of_one_who_was_away_between_the_look_and_the_message_counts() -> None:
    """The look of another edition came in between: it begins where the others of its class are."""
    a, b = (CAMPAIGN, "a"), (CAMPAIGN, "b")
    accounts = ServiceAccounting(SHARES)
    accounts.served([a])
    accounts.charge((SHARD, 1), a, 5.0)
    accounts.served([a])
    accounts.charge((SHARD, 2), b, 2.0)
    accounts.charge((SHARD, 3), (NIGHTLY, "n"), 2.0)
    assert accounts.served([a, b, (NIGHTLY, "n")]) == {a: 5.0, b: 7.0, (NIGHTLY, "n"): 2.0}


def test_when_it_is_known_how_long_a_task_took_the_lags_are_as_if_it_had_been_known_before() -> None:
    """Those of the classes that waited when it was sent: of who has come since then nothing was owed."""
    a, n, i = (CAMPAIGN, "a"), (NIGHTLY, "n"), (INTERACTIVE, "i")
    accounts = ServiceAccounting(SHARES)
    accounts.served([a, n])
    accounts.charge((SHARD, 1), a, 4.0)
    # Interactive work does not wait, and saves little.
    assert accounts.lag == {INTERACTIVE: MAX_SAVED, CAMPAIGN: 1.0 - 4.0, NIGHTLY: 0.5}
    accounts.served([a, i])
    accounts.settle((SHARD, 1), 12.0)
    assert accounts.lag == {INTERACTIVE: MAX_SAVED, CAMPAIGN: 3.0 - 12.0, NIGHTLY: 1.5}


def test_of_too_many_tasks_whose_end_nobody_hears_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share, "MAX_CHARGES", 3)
    a = (CAMPAIGN, "a")
    accounts = ServiceAccounting(SHARES)
    accounts.served([a])
    for key in range(5):
        accounts.charge((SHARD, key), a, 1.0)
    assert list(accounts.open) == [(SHARD, key) for key in (2, 3, 4)]
    assert accounts.served([a]) == {a: 5.0}, "they count all the same"


def test_a_task_counts_once_and_as_long_as_it_took() -> None:
    a = (CAMPAIGN, "a")
    accounts = ServiceAccounting(SHARES)
    accounts.served([a])
    accounts.charge((SHARD, 1), a, 5.0)
    accounts.charge((SHARD, 1), a, 5.0)
    assert accounts.served([a])[a] == 5.0
    assert list(accounts.open) == [(SHARD, 1)]
    accounts.settle((SHARD, 1), 2.0)
    assert accounts.served([a])[a] == 2.0
    assert not accounts.open
