"""Small folders of campaigns, and reading them."""

import pytest

from steelyard.errors import BadText
from steelyard.formats.campaign.folder import BadCampaign, read_campaign

DOCS = "segment\tdoc_id\tseg_in_doc\tdomain\n0\tone\t1\tnews\n1\tone\t2\tnews\n2\ttwo\t1\ttravel\n"


def small_campaign(parent):
    """A small campaign in which nothing is wrong."""
    campaign = parent / "harbour"
    write(campaign / "source.txt", "a\nb\nc\n")
    write(campaign / "refs" / "B.txt", "A2\nB2\nC2\n")
    write(campaign / "refs" / "A.txt", "A1\nB1\nC1\n")
    write(campaign / "systems" / "tug.txt", "A\nB\nC\n")
    write(campaign / "systems" / "barge.txt", "A\n\nC\n")
    return campaign


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(folder, kind=BadCampaign, **options):
    with pytest.raises(kind) as raised:
        read_campaign(folder, **options)
    assert isinstance(raised.value, BadText)
    return str(raised.value)
