"""An agent of your own: one async function. Run it with `SAYSO_AGENT=examples.deploy:deploy sayso up`."""

from core.agent import Run, agent


async def push(env: str) -> str:
    """Stand in for what really deploys."""
    return f"pushed to {env}"


@agent("deploy")
async def deploy(run: Run, message: str) -> str | None:
    """Ask where to, ask for approval, then act once."""
    env = await run.choose("Where to?", ["staging", "production"])
    await run.confirm("Deploy", tool="deploy", arguments={"env": env})
    async with run.tool("deploy", env=env):
        await run.step("push", push, env)
    return f"Deployed to {env}."
