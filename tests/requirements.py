"""What this project promises, and on which surface each promise is proved or still owed.

Every case of `docs/cases.md` is here by its id and title. *Proved* means that a test marked `@proves(id, surface)`
exists; `tests/house/test_promises.py` fails when one is missing and when a test proves what is not promised. *Owed*
names the part of Sayso that will bring the proof with it.
"""

from typing import Final, NamedTuple

from tests.proves import Surface


class Promise(NamedTuple):
    """One case: where it is proved, and who owes the rest (surface by part of Sayso)."""

    title: str
    proved: tuple[Surface, ...]
    owed: dict[Surface, str]


TITLES: Final[dict[str, str]] = {
    "C01": "Same person presses several times",
    "C02": "Two permitted people give opposite answers together",
    "C04": "Answered on one surface, still live on another",
    "C06": "The single acknowledgement carries the truth",
    "C07": "Another member presses the button",
    "C08": "Empty or chat-only allow-list in a group",
    "C09": "Small talk is not consent",
    "C11": "Someone else's next message is not the answer",
    "C12": "Web API ownership",
    "C14": "Only an explicit yes is a yes",
    "C15": "Press on an expired request",
    "C16": "Late answer before the cleaner runs",
    "C17": "Nobody answered",
    "C19": "Many unanswered requests",
    "C21": "What was shown can be used",
    "C24": "Second question does not disable the first",
    "C25": "Pressing B approves B",
    "C26": "Ambiguous word",
    "C28": "Answer to something already decided",
    "C31": "Each answer goes to its own request",
    "C33": "Free text while a button question is open",
    "C34": "Reply during a wait",
    "C35": "Text that matches no option",
    "C36": "Commands are not answers",
    "C38": "Editing an old message",
    "C40": "Adapter not subscribed to presses",
    "C42": "Discord view is lost",
    "C44": "Unknown is not the same as used",
    "C45": "Every kind of control wakes the run",
    "C46": "Staleness is decided by the broker",
    "C47": "Acknowledge before doing the work",
    "C49": "Button payload size",
    "C50": "Question text with markup characters",
    "C51": "Editing to the same content",
    "C52": "Long question with long escaping",
    "C54": "Mention or command after an emoji",
    "C55": "Long options stay readable and reachable",
    "C56": "Duplicate, empty and structured options",
    "C58": "The person sees all of what they approve",
    "C59": "What is shown is what runs",
    "C61": "Question lands where the run was started",
    "C63": "Group upgraded, bot blocked or removed",
    "C64": "Cancel a run parked on a question",
    "C65": "Approval arrives with or after the cancel",
    "C67": "Nothing waits for a dead run",
    "C70": "Abort in the middle of a tool call",
    "C71": "Reject one of two",
    "C72": "Cancel a queued run",
    "C73": "Uncooperative tool",
    "C75": "Cancel just after the answer",
    "C77": "Answer to a question of a paused run",
    "C78": "Finished work is not repeated",
    "C79": "Arguments change on replay",
    "C80": "Concurrent resumes",
    "C82": "The answer is used up but nothing starts",
    "C83": "A decision alone is enough",
    "C85": "Client drops while a question is open",
    "C86": "Closing the page is not a cancel",
    "C87": "Pending question after a page reload",
    "C88": "Start-up resume and a new message",
    "C90": "Crash in the middle of a run",
    "C92": "Reading someone else's reply",
    "C93": "The item taken by a cancelled reader",
    "C94": "Listener after a connection drop",
    "C95": "Cancel after a dropped subscription",
    "C96": "Published while nobody was connected",
    "C97": "Consumer killed after delivery",
    "C101": "Answer arrives at another process",
    "C102": "Crash before the batch is confirmed",
    "C103": "Confirmed before it was stored",
    "C104": "409 conflict",
    "C105": "Polling after sleep or a network change",
    "C107": "429 with a retry time",
    "C108": "HTTP client logs the URL",
    "C110": "Replies given while disconnected",
    "C111": "No gaps and no repeats",
    "C114": "Answered in one tab",
    "C115": "An answer sent into a dead connection",
    "C116": "Result of a background job",
    "C117": "Unclear send result",
    "C118": "A reply of 200,000 characters",
    "C122": "Resumed turn and retries",
    "C123": "File name from the sender",
    "C124": "Attachment or model link to an inner address",
    "C126": "Answer to a secret request",
    "C127": "The message that holds the secret",
    "C128": "Not by guessing words",
    "C130": "Secret typed in the terminal",
    "C131": "Scope of a remembered approval",
    "C133": "The model writes the person's part",
    "C135": "The page shows untrusted text",
    "C136": "Cross-site requests",
    "C138": "Access token as a query parameter",
    "C139": "Prompt without a terminal",
    # Our own, beside the cases.
    "S01": "All processes of a data folder share one private store, and no kill loses what it acknowledged",
    "S02": "A missing, old, full or unreachable store is said in words: what, where, what to do",
}

PROVED: Final[dict[str, tuple[Surface, ...]]] = {
    "C01": ("broker", "api", "page", "kit", "discord"),
    "C02": ("broker", "api", "discord"),
    "C04": ("api", "page", "kit", "discord"),
    "C06": ("page", "kit", "discord"),
    "C07": ("broker", "api", "page", "kit", "discord"),
    "C08": ("broker", "api", "kit", "discord"),
    "C09": ("page", "kit"),
    "C11": ("page", "kit", "discord"),
    "C12": ("api",),
    "C14": ("broker", "api", "page", "kit"),
    "C15": ("page", "kit", "discord"),
    "C16": ("broker", "api", "kit"),
    "C17": ("broker", "page", "kit"),
    "C19": ("broker",),
    "C21": ("broker", "api", "page", "kit"),
    "C24": ("broker", "page", "kit"),
    "C25": ("broker", "api", "page", "kit", "discord"),
    "C26": ("page", "kit"),
    "C28": ("broker", "api", "page", "kit", "discord"),
    "C31": ("broker", "page", "kit"),
    "C33": ("page", "kit", "discord"),
    "C34": ("broker", "page", "kit", "discord"),
    "C35": ("page", "kit", "discord"),
    "C36": ("broker", "page", "kit", "discord"),
    "C38": ("broker", "api", "kit", "discord"),
    "C42": ("discord",),
    "C44": ("page", "kit", "discord"),
    "C45": ("page", "kit", "discord"),
    "C46": ("page", "kit", "discord"),
    "C47": ("discord",),
    "C49": ("page", "kit", "discord"),
    "C50": ("page", "kit", "discord"),
    "C51": ("page", "kit", "discord"),
    "C52": ("page", "kit", "discord"),
    "C55": ("page", "kit", "discord"),
    "C56": ("page", "kit", "discord"),
    "C58": ("page", "kit", "discord"),
    "C59": ("page", "kit", "discord"),
    "C61": ("discord",),
    "C63": ("page", "kit", "discord"),
    "C64": ("broker", "api", "page", "kit", "discord"),
    "C65": ("broker", "api"),
    "C67": ("broker", "api"),
    "C70": ("broker",),
    "C71": ("broker",),
    "C72": ("broker", "api"),
    "C73": ("api",),
    "C75": ("broker", "api"),
    "C77": ("broker", "api", "page"),
    "C78": ("broker",),
    "C79": ("broker",),
    "C80": ("broker", "api"),
    "C82": ("broker",),
    "C83": ("broker", "api"),
    "C85": ("api",),
    "C86": ("page",),
    "C87": ("page",),
    "C88": ("broker",),
    "C90": ("broker",),
    "C92": ("broker",),
    "C93": ("broker",),
    "C94": ("broker",),
    "C95": ("broker",),
    "C96": ("broker",),
    "C97": ("broker",),
    "C101": ("api",),
    "C107": ("page", "kit"),
    "C110": ("discord",),
    "C111": ("api", "page"),
    "C114": ("api", "page"),
    "C115": ("page",),
    "C118": ("page", "kit", "discord"),
    "C122": ("broker",),
    "C123": ("api", "kit", "discord"),
    "C124": ("page", "kit"),
    "C126": ("broker", "api", "page", "kit", "discord"),
    "C127": ("api", "page", "kit", "discord"),
    "C128": ("broker", "api", "page", "kit"),
    "C131": ("broker", "api", "page", "kit"),
    "C133": ("broker",),
    "C135": ("page", "kit"),
    "C136": ("api",),
    "C138": ("api",),
    "S01": ("store",),
    "S02": ("store",),
}

# What a front end proves beside the kit, which all of them have in common.
_ON: Final[dict[Surface, str]] = {
    "telegram": (
        "C01 C02 C04 C06 C07 C08 C09 C11 C14 C15 C16 C17 C21 C24 C25 C26 C28 C31 C33 C34 C35 C36 C38 C40 C44 C45 C46 "
        "C49 C50 C51 C52 C54 C55 C56 C58 C59 C61 C63 C64 C102 C103 C104 C105 C107 C108 C118 C123 C124 C126 C127 C128 "
        "C131 C135"
    ),
    "process": ("C64 C65 C67 C70 C71 C72 C73 C75 C77 C78 C79 C80 C82 C83 C85 C86 C88 C90 C92 C93 C94 C95 C96 C97 C101"),
}


def _proved(case: str) -> tuple[Surface, ...]:
    return (*PROVED.get(case, ()), *(surface for surface, cases in _ON.items() if case in cases.split()))


_OWED: Final[tuple[tuple[str, Surface, str], ...]] = (
    (
        "Telegram",
        "telegram",
        (
            "C01 C02 C04 C06 C07 C08 C09 C11 C15 C25 C26 C28 C33 C34 C35 C36 C38 C40 C44 C45 C46 C49 C50 "
            "C51 C52 C54 C55 C56 C58 C59 C61 C63 C64 C102 C103 C104 C105 C107 C108 C118 C123 C126 C127"
        ),
    ),
    ("the terminal", "terminal", "C58 C59 C118 C126 C127 C130 C139"),
    ("background jobs", "jobs", "C61 C116 C117"),
)

PROMISES: Final[dict[str, Promise]] = {
    case: Promise(
        title,
        _proved(case),
        {surface: part for part, surface, cases in _OWED if case in cases.split() and surface not in _proved(case)},
    )
    for case, title in TITLES.items()
}

# What every front end owes, wherever people read and answer: proved on the fake platforms and on the web (page or API).
EVERYWHERE: Final[frozenset[str]] = frozenset(
    " ".join(
        (
            "C01 C04 C06 C07 C08 C09 C11 C14 C15 C16 C17 C21 C24 C25 C26 C28 C31 C33 C34 C35 C36 C38 C44 C45 C46",
            "C49 C50 C51 C52 C55 C56 C58 C59 C63 C64 C107 C118 C123 C124 C126 C127 C128 C131 C135",
        )
    ).split()
)

# Promised as proved, test not written yet. Whoever writes it strikes the line; this list ends empty.
PENDING: Final[frozenset[tuple[str, Surface]]] = frozenset[tuple[str, Surface]]()
