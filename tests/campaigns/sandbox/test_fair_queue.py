"""Who is next, by a clock of our own."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.errors import TooMany, Unavailable
from campaigns.sandbox.fair_queue import HALF_LIFE_SECONDS, FairQueue, Owner, Ticket


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def queue(slots: int = 1, waiting: int = 100, each: int = 100) -> tuple[FairQueue, Clock]:
    clock = Clock()
    return FairQueue(slots, waiting, each, clock), clock


def runs(ticket: Ticket) -> bool:
    return ticket.granted.done()


def test_teams_that_have_used_much_wait_for_those_that_have_not() -> None:
    fair, clock = queue()
    greedy, modest = Owner(1), Owner(2)
    first = fair.enter(greedy)
    more = [fair.enter(greedy) for _ in range(3)]
    other = fair.enter(modest)
    assert runs(first)
    assert not runs(other)
    assert (fair.places(1), fair.places(2)) == ([0, 1, 2], [3])
    clock.at += 30
    fair.leave(first)
    assert runs(other)
    assert not any(map(runs, more))
    fair.leave(other)
    assert runs(more[0])


def test_a_team_with_many_accounts_counts_as_one() -> None:
    fair, clock = queue()
    first = fair.enter(Owner(1, "harbour"))
    second, other = fair.enter(Owner(2, "harbour")), fair.enter(Owner(3, "guests"))
    clock.at += 5
    fair.leave(first)
    assert runs(other)
    assert not runs(second)


def test_one_account_and_one_team_have_one_slot_at_a_time() -> None:
    fair, _ = queue(slots=4)
    first = fair.enter(Owner(1, "harbour"))
    same_account, same_team = fair.enter(Owner(1, "guests")), fair.enter(Owner(2, "harbour"))
    nobodys_team = [fair.enter(Owner(number)) for number in (3, 4)]
    assert runs(first)
    assert all(map(runs, nobodys_team))
    assert not runs(same_account)
    assert not runs(same_team)
    fair.leave(first)
    assert runs(same_account)
    assert runs(same_team)


def test_there_is_room_for_so_many_of_one_account_and_of_all() -> None:
    fair, _ = queue(waiting=3, each=2)
    fair.enter(Owner(1))
    waiting = [fair.enter(Owner(1)), fair.enter(Owner(1))]
    with pytest.raises(TooMany, match=r"2 of your files are already waiting"):
        fair.enter(Owner(1))
    fair.enter(Owner(2))
    with pytest.raises(Unavailable, match=r"3 files are waiting"):
        fair.enter(Owner(3))
    fair.leave(waiting[0])
    fair.enter(Owner(3))


def test_who_gives_up_leaves_no_hole() -> None:
    fair, _ = queue()
    first, second, third = (fair.enter(Owner(number)) for number in (1, 2, 3))
    second.granted.cancel()
    fair.leave(second)
    # Cancelled, but not yet given back: it gets no slot, and keeps none from others.
    fourth = fair.enter(Owner(4))
    third.granted.cancel()
    fair.leave(first)
    assert runs(fourth)
    assert not fourth.granted.cancelled()


def test_what_was_used_is_forgotten_by_and_by() -> None:
    fair, clock = queue()
    for owner, seconds in ((Owner(1), 64.0), (Owner(2), 2.0)):
        ticket = fair.enter(owner)
        clock.at += seconds
        fair.leave(ticket)
    running = fair.enter(Owner(3))
    early, late = fair.enter(Owner(1)), fair.enter(Owner(2))
    assert (fair.places(1), fair.places(2)) == ([1], [0])
    clock.at += 30 * HALF_LIFE_SECONDS
    fair.leave(running)
    # What is forgotten is the same for both: the first comes first.
    assert runs(early)
    assert not runs(late)


def use(fair: FairQueue, clock: Clock, owner: Owner, seconds: float) -> None:
    ticket = fair.enter(owner)
    assert runs(ticket)
    clock.at += seconds
    fair.leave(ticket)


@pytest.mark.parametrize(("seconds", "order"), [(30.0, [1, 2]), (15.0, [2, 1])])
def test_what_was_used_counts_half_after_a_half_life_and_adds_up(seconds: float, order: list[int]) -> None:
    """The first one's 40 seconds have become 20 when it uses one more, so it is between 15 and 30."""
    fair, clock = queue()
    use(fair, clock, Owner(1), 40.0)
    clock.at += HALF_LIFE_SECONDS
    use(fair, clock, Owner(1), 1.0)
    use(fair, clock, Owner(2), seconds)
    fair.enter(Owner(3))
    fair.enter(Owner(1))
    fair.enter(Owner(2))
    assert sorted((1, 2), key=fair.places) == order


def test_who_has_no_team_has_used_what_the_account_has() -> None:
    fair, clock = queue()
    use(fair, clock, Owner(1), 0.5)
    use(fair, clock, Owner(2, "harbour"), 0.7)
    fair.enter(Owner(3))
    fair.enter(Owner(2, "harbour"))
    fair.enter(Owner(1))
    assert (fair.places(1), fair.places(2)) == ([0], [1])


def test_an_account_has_used_what_it_used_for_any_of_its_teams() -> None:
    fair, clock = queue()
    use(fair, clock, Owner(1, "harbour"), 5.0)
    use(fair, clock, Owner(2, "guests"), 1.0)
    fair.enter(Owner(3))
    fair.enter(Owner(1, "another"))
    fair.enter(Owner(2, "guests"))
    assert (fair.places(1), fair.places(2)) == ([1], [0])


def test_an_account_has_so_many_places_for_all_of_its_teams() -> None:
    fair, _ = queue(each=2)
    fair.enter(Owner(9))
    for team in ("harbour", "guests"):
        fair.enter(Owner(1, team))
    with pytest.raises(TooMany):
        fair.enter(Owner(1, "another"))


def test_a_turn_begins_when_there_is_a_slot_and_gives_it_back() -> None:
    fair, _ = queue()
    first = fair.enter(Owner(1))
    begun = asyncio.Event()

    async def take() -> None:
        async with fair.turn(Owner(2), 60):
            begun.set()

    async def wait_and_take() -> None:
        taking = asyncio.create_task(take())
        # It goes on until it has to wait.
        await asyncio.sleep(0)
        assert (fair.places(2), begun.is_set()) == ([0], False)
        fair.leave(first)
        await taking

    asyncio.run(wait_and_take())
    assert begun.is_set()
    assert runs(fair.enter(Owner(3)))


def test_when_it_closes_all_who_wait_are_informed() -> None:
    fair, _ = queue()
    running, waiting = fair.enter(Owner(1)), fair.enter(Owner(2))
    fair.close()
    assert runs(running)
    assert running.granted.exception() is None
    assert isinstance(waiting.granted.exception(), Unavailable)
    fair.leave(waiting)
    fair.leave(running)
    assert runs(fair.enter(Owner(1)))


def test_who_has_given_up_keeps_nobody_from_being_informed_that_it_closes() -> None:
    fair, _ = queue()
    fair.enter(Owner(1))
    gone, waiting = fair.enter(Owner(2)), fair.enter(Owner(3))
    gone.granted.cancel()
    fair.close()
    assert gone.granted.cancelled()
    assert isinstance(waiting.granted.exception(timeout=0), Unavailable)


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["", "a", "b"]), st.booleans()), max_size=60), st.data())
def test_whatever_comes_each_is_served_once_and_slots_are_used(
    steps: list[tuple[int, str, bool]], data: st.DataObject
) -> None:
    fair, clock = queue(slots=2)
    open_tickets: list[Ticket] = []
    for account, team, ends in steps:
        clock.at += 1
        if ends and open_tickets:
            ticket = open_tickets.pop(data.draw(st.integers(0, len(open_tickets) - 1)))
            fair.leave(ticket)
        else:
            open_tickets.append(fair.enter(Owner(account, team)))
        running = [each for each in open_tickets if runs(each)]
        assert len(running) <= 2
        assert len({each.owner.account_id for each in running}) == len(running)
        teams = [each.owner.team for each in running if each.owner.team]
        assert len(set(teams)) == len(teams)
        if len(running) < 2:
            held = {each.owner.account_id for each in running}, set(teams)
            waiting = [each for each in open_tickets if not runs(each)]
            assert all(each.owner.account_id in held[0] or each.owner.team in held[1] for each in waiting)
