"""Verbs over --database on PostgreSQL: the app in the process answers there, too."""

import json

from tests.acceptance.commands import steelyard_here


def test_verbs_on_postgresql(empty_postgres_url, tmp_path):
    def run(*words):
        return steelyard_here(*words, "--database", empty_postgres_url, cwd=tmp_path)

    assert run("db", "upgrade").returncode == 0
    created = run("user", "create", "ann@example.org", "--name", "Ann")
    assert created.returncode == 0, created.stderr
    assert run("team", "create", "harbour", "--lead", "ann@example.org").returncode == 0
    listed = run("team", "list", "-f", "json")
    assert [each["name"] for each in json.loads(listed.stdout)] == ["harbour"], listed.stderr
