"""One id for a request and all that follows from it; spans reach a collector, and nobody needs one."""

from __future__ import annotations

import logging
import os

import pytest

import runtime.tracing
from runtime.errors import MissingTracePackages
from runtime.logs import JsonLines, TextLines, fields
from runtime.tracing import current_trace, flush_traces, set_up_traces, span, trace_id
from tests.collector import Collector

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collector():
    with Collector() as running:
        set_up_traces(running.url, "test")
        yield running
        runtime.tracing._EXPORTER.__init__()


def test_work_is_in_the_trace_of_its_parent_or_in_a_new_one():
    assert current_trace() is None
    with span("a", PARENT) as outer:
        assert outer.trace == current_trace() == PARENT
        with span("within"):
            assert trace_id(current_trace()) == trace_id(PARENT)
        with span("other", PARENT.replace("0af7", "0af8")):
            assert trace_id(current_trace()) != trace_id(PARENT)
        assert current_trace() == PARENT
    with span("b") as first:
        pass
    with span("c") as second:
        outer.describe("d", key=1)
    assert len({trace_id(each.trace) for each in (first, second)}) == 2
    assert current_trace() is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        PARENT[:-1],
        PARENT.upper(),
        PARENT.replace("00-", "01-", 1),
        f"00-{'0' * 32}-{'1' * 16}-01",
        PARENT + "\n",
    ],
)
def test_a_text_that_names_no_trace_begins_a_new_one(text):
    assert trace_id(text) is None
    with span("a", text) as begun:
        assert trace_id(begun.trace)


@pytest.mark.parametrize("formatter", [JsonLines({}), TextLines()])
def test_lines_have_the_id_of_their_trace(formatter):
    record = logging.makeLogRecord({"msg": "here"})
    assert "trace_id" not in formatter.format(record)
    with span("a", PARENT):
        assert str(trace_id(PARENT)) in formatter.format(record)
        # Of work of which another process began.
        record.fields = fields(trace_id="f" * 32)["fields"]
        assert "f" * 32 in formatter.format(record)


def test_spans_arrive_with_their_parents_and_without_messages_of_errors(collector):
    with span("outer", PARENT, "server", key=7, nothing=None) as outer:
        outer.describe("renamed", **{"http.route": "/here"})
        with pytest.raises(ValueError, match="a text"), span("inner"):
            raise ValueError("a text of somebody")
    flush_traces()
    found = {each.name: each for each in collector.spans}
    assert set(found) == {"renamed", "inner"}
    assert {each.trace_id for each in found.values()} == {trace_id(PARENT)}
    assert found["renamed"].parent == PARENT.split("-")[2]
    assert found["renamed"].attributes == {"steelyard.key": 7, "http.route": "/here"}
    assert found["renamed"].service == "steelyard-test"
    assert found["inner"].parent == found["renamed"].span_id
    assert found["inner"].error == "ValueError"
    assert "somebody" not in str(collector.received)


def test_what_was_not_sampled_is_not_recorded(collector):
    with span("outer", PARENT[:-2] + "00"), span("inner"):
        assert trace_id(current_trace()) == trace_id(PARENT)
    with span("other"):
        pass
    flush_traces()
    assert [each.name for each in collector.spans] == ["other"]


def test_forked_processes_send_theirs(collector):
    with span("parent"):
        pass
    flush_traces()
    child = os.fork()
    if not child:
        with span("child", PARENT):
            pass
        flush_traces()
        os._exit(0)
    os.waitpid(child, 0)
    assert [each.name for each in collector.spans] == ["parent", "child"]


def test_a_collector_that_is_away_stops_nobody():
    with Collector() as gone:
        url = gone.url
    try:
        set_up_traces(url, "test")
        with span("a"):
            pass
        flush_traces()
    finally:
        runtime.tracing._EXPORTER.__init__()


def test_who_has_nothing_to_send_sends_nothing():
    flush_traces()


@pytest.mark.parametrize("missing", ["opentelemetry.sdk", "opentelemetry.exporter"])
def test_without_the_packages_it_says_how_to_get_them(monkeypatch, missing):
    monkeypatch.setattr(runtime.tracing, "find_spec", lambda name: None if name == missing else object())
    set_up_traces(None, "web")
    with pytest.raises(MissingTracePackages, match=r"steelyard-server\[traces\]"):
        set_up_traces("http://localhost:4318/v1/traces", "web")
