"""Pages that are made from code are up to date, and cite nothing that a clone lacks."""

import re

from gateway.settings import Settings, env_name
from gateway.settings_page import page
from tests.house.sources import ROOT

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]*[./][^)#\s]*)")


def test_the_page_of_settings_is_what_the_code_says() -> None:
    assert (ROOT / "docs" / "settings.md").read_text("utf-8") == page()


def test_every_setting_says_what_it_is() -> None:
    assert not [env_name(name) for name, field in Settings.model_fields.items() if not field.description]


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in LINK.findall(page.read_text("utf-8"))
        if not (page.parent / link).exists()
    ]
    assert not broken
