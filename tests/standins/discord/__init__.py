"""A Discord for tests: REST and gateway on loopback, used by the real discord.py. See README.md."""

from tests.standins.discord.faults import Fault
from tests.standins.discord.people import Human
from tests.standins.discord.standin import DiscordStandin, standin
from tests.standins.discord.world import Channel, Guild, Interaction, Message, Modal, Role

__all__ = ["Channel", "DiscordStandin", "Fault", "Guild", "Human", "Interaction", "Message", "Modal", "Role", "standin"]
