"""Headers, cookies, sessions, forms and tokens of `steelyard serve`, a process of its own."""

import re

import pytest

from tests.acceptance.commands import running, wait_for
from tests.running_security import check_all

pytestmark = pytest.mark.faults


def test_a_stranger_finds_what_the_pages_on_security_say(tmp_path):
    log = tmp_path / "serve.log"
    with running("serve", cwd=tmp_path):
        wait_for(lambda: "/invitations/" in log.read_text())
        server = re.search(r"Steelyard is at (\S+)/\n", log.read_text())[1]
        check_all(server, re.search(r"/invitations/([\w-]+)", log.read_text())[1])
