"""What agents write is shown as they meant it, and nothing of it runs, is fetched or covers the page."""

import re
import time
from html.parser import HTMLParser

import pytest

from adapters.web.markdown import LONGEST, render

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "text <svg onload=alert(1)><animate onbegin=alert(1) attributeName=x></svg>",
    "<style>body{display:none}</style>",
    '<div style="position:fixed;inset:0">over all</div>',
    "[press](javascript:alert(1))",
    "[press](JaVaScRiPt:alert(1))",
    "[press](java\nscript:alert(1))",
    "[press](&#106;avascript:alert(1))",
    "[press](data:text/html;base64,PHNjcmlwdD4=)",
    "[press](vbscript:x)",
    "[press](/v1/logout)",
    "[press](//evil.example/x)",
    "[press](#pending)",
    "![a](https://evil.example/pixel.png)",
    "![a](data:image/svg+xml;base64,PHN2Zz4=)",
    "[![a](https://evil.example/p.png)](https://ok.example)",
    '[a](https://ok.example "t\\" onmouseover=alert(1)")',
    '<https://ok.example/"onclick=alert(1)>',
    "```\n</code></pre><script>alert(1)</script>\n```",
    "```html\n<script>alert(1)</script>\n```",
    '```"><img src=x onerror=alert(1)>\nx\n```',
    '```python" onload="x\nprint(1)\n```',
    "| a |\n|:-:|\n| <img src=x onerror=alert(1)> |",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)' onclick='alert(1)'>x</a>",
    "<form action=https://evil.example><input name=a><button>go</button></form>",
    "<math><mi xlink:href='data:x,<script>alert(1)</script>'></math>",
    "https://ok.example/<script>alert(1)</script>",
    'https://ok.example/"onmouseover=alert(1)//',
    "\x00<scr\x00ipt>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]
# fmt: off
SLOW = [
    "[", "![", "*a ", "_a*", "> ", "- ", "`", "``` ", "<", "&", "|a", "~~a", "[a](", "[](",
    "\\", "a\n===\n", "1. ", "https://a ", "<a ", "*a_b",
]
# fmt: on
ALLOWED = {
    "a": {"href", "rel", "target"},
    "pre": {"class"},
    "span": {"class"},
    "td": {"class"},
    "th": {"class"},
    "ol": {"start"},
}
PLAIN = {
    *("blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "s", "strong"),
    *("table", "tbody", "thead", "tr", "ul"),
}


class Tags(HTMLParser):
    """Collects each tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_acts_survives(text: str) -> None:
    for tag, attributes in Tags(render(text)).found:
        assert tag in ALLOWED or tag in PLAIN
        assert set(attributes) <= ALLOWED.get(tag, set())
        if tag == "a":
            assert re.match(r"https?://[^/]|mailto:[^@]+@", attributes["href"] or "")
            assert attributes["rel"] == "noopener noreferrer nofollow"
            assert attributes["target"] == "_blank"


def test_raw_html_is_shown_as_the_text_it_is() -> None:
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in render("<script>alert(1)</script>")


def test_a_picture_becomes_a_link_with_its_words() -> None:
    html = render("see ![a chart](https://pics.example/chart.png)")
    assert "<img" not in html
    assert 'href="https://pics.example/chart.png"' in html
    assert ">a chart</a>" in html


def test_code_is_coloured_by_classes_without_styles() -> None:
    html = render("```python\nprint('hi')\n```")
    assert '<span class="nb">print</span>' in html
    assert "style" not in html


def test_code_keeps_its_blank_first_line_and_its_spaces() -> None:
    html = render("```python\n\n    x = 1\n```")
    assert re.sub(r"<[^>]+>", "", html) == "\n    x = 1\n\n"


def test_a_bare_address_is_a_link_without_the_full_stop_after_it() -> None:
    html = render("Look at https://docs.example/a_(b). Then go on.")
    assert 'href="https://docs.example/a_(b)"' in html
    assert "</a>. Then" in html


def test_an_address_in_code_is_no_link() -> None:
    assert "<a" not in render("`https://docs.example/`")


def test_columns_keep_their_alignment_by_class() -> None:
    html = render("| a | b |\n|:--|--:|\n| 1 | 2 |")
    assert '<td class="align-right">2</td>' in html


def test_a_class_that_the_page_uses_cannot_be_borrowed() -> None:
    html = render('<span class="badge">1</span>\n\n```badge\nx\n```')
    assert not [tag for tag, attributes in Tags(html).found if "class" in attributes]


def test_long_text_is_shown_plain() -> None:
    html = render("**x**" * LONGEST)
    assert html.startswith('<pre class="plain">**x**')
    assert "<strong>" not in html


@pytest.mark.parametrize(
    "unit",
    SLOW,
)
def test_text_made_to_be_slow_is_rendered_all_the_same(unit: str) -> None:
    """The limit is a wait of the test run, not a figure; a text of quadratic cost would take minutes."""
    started = time.process_time()
    assert render((unit * LONGEST)[: LONGEST - 1])
    assert time.process_time() - started < 20


def test_deep_nesting_ends() -> None:
    assert render("> " * 5000 + "x")
    assert render("- " * 5000 + "x")
    assert render("*" * 20000 + "x" + "*" * 20000)


def test_broken_characters_are_shown() -> None:
    assert render("a\ud800b")
