"""Many requests at the same moment: each is done once, and limits hold."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select

from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope
from models.database.session import reading, writing
from models.schema.campaigns import Declaration, UsageLogEntry
from models.schema.corpus import Submission
from models.schema.roles import DeclaredKind
from models.schema.states import QuotaKind
from tests.service.port import Port, output

AT_ONCE = 6


def test_the_same_request_sent_by_many_at_once_is_done_once(port_anywhere: Port) -> None:
    port = port_anywhere
    clients = [port.program("mary") for _ in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda client: port.submit(client, key="one", kind="primary"), clients))
    assert {each.json()["id"] for each in answers} == {2}
    assert Counter(each.status_code for each in answers) == {201: 1, 200: AT_ONCE - 1}
    assert (port.count(Submission), port.count(UsageLogEntry)) == (2, 1)


def test_of_many_outputs_at_once_as_many_come_in_as_there_is_room_for_and_one_is_primary(port_anywhere: Port) -> None:
    port = port_anywhere
    with writing(port.service.engine) as connection:
        set_quotas(connection, QuotaScope(port.campaign, "", ""), {QuotaKind.PER_DAY: 3})
    sent = [(port.program("mary"), output(seed)) for seed in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda one: port.submit(*one, kind="primary"), sent))
    assert Counter(each.status_code for each in answers) == {201: 3, 429: AT_ONCE - 3}
    with reading(port.service.engine) as connection:
        kinds = Counter(connection.scalars(select(Declaration.kind)))
    assert kinds == {DeclaredKind.PRIMARY: 1, DeclaredKind.CONTRASTIVE: 2}
