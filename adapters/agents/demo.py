"""The demo agent: shows everything a run can do, needs no key and harms nothing. Also an example of how to write one.

Each word that it reacts to is one short function below; read any of them to see how your own agent would do it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from core.agent import Denied, Run, agent, choice_field, confirm_field, text_field

HELP = """\
I am the demo agent. I need no key, and I break nothing. Send me one of these words:

- `confirm` a command that needs your approval before it runs
- `choose` one of several options, `multi` several at once
- `text` a question with a free answer, `form` a form with every kind of field
- `secret` how a secret is asked for
- `long` a tool that takes a minute and can be cancelled or paused (`long 5` takes five seconds)
- `steer` some work that listens to what you say meanwhile
- `file` a file from me to you, `upload` a file from you to me
- `fail` a run that breaks, and can be tried again

While a question is open, go away, restart me, come back tomorrow: the question waits for you."""
TICK = 0.25
LONGEST = 600.0
COMMAND = "rm -rf ./build ./dist && git clean -fdx"


@agent("demo", description="Shows everything that a run can do; needs no key.", guarded=("shell",))
async def demo(run: Run, message: str) -> str | None:
    """Do what the first word says; anything else is echoed, with help."""
    word, _, rest = message.strip().partition(" ")
    act = WORDS.get(word.casefold())
    if act is not None:
        return await act(run, rest.strip())
    names = f" and {len(run.attachments)} file(s)" if run.attachments else ""
    echoed = f"You said: {message.strip()}{names}\n\n" if message.strip() or names else ""
    return echoed + HELP


async def confirm(run: Run, rest: str) -> str:
    """Ask for approval of one call. `shell` is a guarded tool: exactly what was approved can run, once."""
    arguments = {"command": COMMAND, "folder": "~/project"}
    try:
        await run.confirm(
            "Clean the project folder?",
            tool="shell",
            arguments=arguments,
            message="It removes all build results and every file that git does not know. (The demo only pretends to.)",
        )
    except Denied as denied:
        return f"Left alone{f', because: {denied.reason}' if denied.reason else ''}."
    async with run.tool("shell", **arguments) as call:
        call.result = await run.step("pretend", pretend, COMMAND)
    return f"Done. {call.result}"


async def pretend(command: str) -> str:
    """Stand in for what a real agent would do."""
    return f"Nothing was deleted: I only pretended to run `{command}`."


async def choose(run: Run, rest: str) -> str:
    """Ask for one of several options."""
    where = await run.choose(
        "Where should it go?",
        [
            {"label": "Staging", "description": "Only the team sees it"},
            {"label": "Production", "description": "Everybody sees it"},
            "Nowhere, I only wanted to see the buttons",
        ],
    )
    return f"You chose: {where}"


async def multi(run: Run, rest: str) -> str:
    """Ask for several options at once, and leave room for an own one."""
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    picked = await run.choose("On which days does it suit you?", days, multiple=True, min=1, max=3, allow_other=True)
    return f"Noted: {', '.join(picked)}"


async def text(run: Run, rest: str) -> str:
    """Ask for a free text; in a one-to-one chat the next message is the answer."""
    name = await run.ask("What is your name?", placeholder="Ada")
    return f"Nice to meet you, {name}."


async def form(run: Run, rest: str) -> str:
    """Ask several things at once; the answers come together."""
    given = await run.form(
        "Plan a trip",
        text_field("where", "Where to?"),
        text_field("when", "From which day?", format="date"),
        text_field("people", "How many people?", format="integer", default="2"),
        text_field("budget", "Budget per person, in euros", format="number", required=False),
        choice_field("by", "How do you travel?", ["Train", "Bicycle", "On foot"]),
        choice_field("wishes", "What matters?", ["Quiet", "Food", "Museums"], multiple=True, max=2, required=False),
        text_field("mail", "Where do I send it?", format="email", required=False),
        text_field("link", "A page that you liked", format="url", required=False),
        text_field("notes", "Anything else?", format="multiline", required=False),
        confirm_field("book", "May I book at once?", yes="Book it", no="Only show me"),
    )
    lines = [f"- {name}: {value}" for name, value in given.items() if value not in (None, "", [])]
    return "This is what you filled in:\n\n" + "\n".join(lines)


async def secret(run: Run, rest: str) -> str:
    """Ask for a secret. Its value is in no message and no record; the demo only counts its characters."""
    token = await run.secret(
        "demo token", "A secret for the demo", message="Type anything: it is never shown, and gone after its one use."
    )
    count = await run.step("use the secret", lambda: len(token.reveal()))
    return f"I used it: it has {count} characters. Neither this chat nor any record holds it."


async def long(run: Run, rest: str) -> str:
    """Do something that takes a while, say how it goes, and stop at once when asked to."""
    seconds = spell(rest, 60.0)
    rounds = max(1, round(seconds / TICK))
    async with run.tool("count", seconds=seconds) as call, run.stream() as out:
        await out.write(f"Counting for {seconds:g} seconds; press Pause or Cancel whenever you like.\n\n")
        for number in range(1, rounds + 1):
            await asyncio.sleep(TICK)
            await out.write(f"{number} ")
        call.result = f"{rounds} rounds"
    return f"I counted to {rounds}."


async def steer(run: Run, rest: str) -> str:
    """Work in rounds, and take in what the person says between them."""
    heard: list[str] = []
    await run.say("I am at work for a while. Tell me what to do differently, and I will.")
    for number in range(1, max(1, round(spell(rest, 20.0) / TICK)) + 1):
        for said in await run.steers():
            heard.append(said.text)
            await run.say(f"Understood: {said.text}")
        await run.status(f"Round {number}")
        await asyncio.sleep(TICK)
    return f"Finished. I took in: {'; '.join(heard)}" if heard else "Finished; you said nothing meanwhile."


async def file(run: Run, rest: str) -> str:
    """Hand over a file."""
    await run.attach(b"Hello from the demo agent.\n", "hello.txt", text="Here is a file for you.")
    return "Send me one as well: with the paper clip, or by dropping it here."


async def upload(run: Run, rest: str) -> str:
    """Ask for files; they come by the card, or with the next message."""
    files = await run.ask_files("Which files shall I look at?", max_files=3, max_bytes=5_000_000)
    lines = [f"- {file.name}: {len(await run.content(file))} bytes, {file.type}" for file in files]
    return "I looked at:\n\n" + "\n".join(lines)


async def fail(run: Run, rest: str) -> str:
    """Break, so that the run is paused; a resume calls this again, and then it works."""
    if not run.resumed:
        raise ConnectionError("the demo's pretended model cannot be reached; press Retry")
    return "This time it worked."


def spell(rest: str, default: float) -> float:
    """Read a number of seconds."""
    try:
        return min(max(float(rest.split()[0]), TICK), LONGEST) if rest else default
    except ValueError:
        return default


WORDS: dict[str, Callable[[Run, str], Awaitable[str]]] = {
    "confirm": confirm,
    "choose": choose,
    "multi": multi,
    "form": form,
    "text": text,
    "secret": secret,
    "long": long,
    "steer": steer,
    "file": file,
    "upload": upload,
    "fail": fail,
}
