"""Parts of pages and of the API that few tests import by name, with the smallest tests that must find faults."""

from __future__ import annotations

from tests.mutants.target import Target, of_one_name, target

WEB_AREAS: dict[str, list[Target]] = {
    "serving": [
        *of_one_name("web", "serving exception_handlers static_files", "tests/web"),
        target("web/supervised.py", "tests/web/test_supervised.py"),
        target("web/access_log.py web/state.py", "tests/web/test_watching.py tests/web/api/accounts/test_accounts.py"),
        target("web/error_mapping.py", "tests/web/test_exception_handlers.py tests/campaigns/quotas/test_submit.py"),
    ],
    "api": [
        target(
            "web/api/accounts/account.py web/api/accounts/accounts.py web/api/accounts/audit.py "
            "web/api/accounts/tokens.py",
            "tests/web/api/accounts/test_administration.py tests/web/api/accounts/test_accounts.py",
        ),
        target(
            "web/api/accounts/teams.py web/api/accounts/invitations.py",
            "tests/web/api/accounts/test_teams_and_invitations.py",
        ),
        target(
            "web/api/campaigns/campaigns.py web/api/campaigns/teams.py web/api/campaigns/phases.py "
            "web/api/campaigns/test_sets.py web/api/campaigns/corrections.py",
            "tests/web/api/campaigns/test_what_is_told.py tests/web/api/campaigns/test_campaigns.py "
            "tests/web/api/campaigns/test_one_of_several.py",
        ),
        target(
            "web/api/campaigns/quotas.py",
            "tests/web/api/campaigns/test_quotas.py tests/web/api/campaigns/test_campaigns.py "
            "tests/web/api/campaigns/test_one_of_several.py",
        ),
        target("web/api/paging.py", "tests/web/api/test_paging.py"),
        target("web/api/accounts/notices.py", "tests/web/api/accounts/test_notice_settings.py"),
        target("web/api/submissions/systems.py", "tests/web/pages/campaigns/test_systems.py"),
    ],
}
