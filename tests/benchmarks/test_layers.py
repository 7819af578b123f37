"""Layers beside their limits, on a campaign of a few lines."""

import pytest

from benchmarks.harness.campaign import Campaign
from benchmarks.harness.generated import write_campaign
from benchmarks.layers import WAY, layers_table, way
from benchmarks.single_layers import limits
from benchmarks.single_layers.limits import Layer, Limit, fastest, measured_limits, shown_rate
from benchmarks.single_layers.number_layers import number_layers
from benchmarks.single_layers.stored_layers import stored_layers
from benchmarks.single_layers.text_layers import PACE, pace, text_layers


@pytest.fixture
def campaign(tmp_path, monkeypatch) -> Campaign:
    monkeypatch.setattr(limits, "SECONDS", 0.0)
    folder = write_campaign(tmp_path / "campaign", 2, 20)
    return Campaign("few", folder / "refs" / "A.txt", sorted((folder / "systems").iterdir()))


def test_the_distance_is_that_from_the_limit():
    layer = Layer("reading", 0.002, 1e6, "B", "copy", "bytes")
    limit = {"copy": Limit("memory copied", 5e9, "B")}
    assert layer.distance(limit) == pytest.approx(10)
    assert layer.row(limit) == ["reading", "2.00", "1,000,000 bytes", "500 MB/s", "memory copied: 5 GB/s", "10.0×"]
    assert Layer("report", 1.5).row(limit) == ["report", "1500.00", "", "", "", ""]
    assert Layer("formulas", 0.5, 100, "", "", "scores").row(limit) == [
        "formulas",
        "500.00",
        "100 scores",
        "200 /s",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("rate", "shown"), [(12.3456, "12.3 B/s"), (1234, "1.23 kB/s"), (2e6, "2 MB/s"), (3e10, "30 GB/s")]
)
def test_rates_have_three_digits(rate, shown):
    assert shown_rate(rate, "B") == shown


def test_the_fastest_of_three_runs_at_least(monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 0.0)
    times = iter([0, 5, 10, 12, 20, 24])
    assert fastest(lambda: None, lambda: next(times)) == 2


def test_every_layer_has_its_limit_and_the_picture_all_of_its_layers(campaign, tmp_path):
    found = text_layers(campaign) + number_layers(campaign)
    ends = measured_limits(campaign.texts(), tmp_path) | {PACE: pace(found)}
    found += stored_layers(campaign, tmp_path, 1)
    assert {layer.limit for layer in found if layer.limit} <= set(ends)
    assert {name for names in WAY.values() for name in names} <= {layer.name for layer in found}
    assert all(layer.seconds > 0 for layer in found)
    assert len(layers_table(found, ends, campaign).rows) == len(found)
    assert [line.name for line in way(found, campaign).lines] == list(WAY)
