"""Who may: see, answer, steer and stop. This file must not know how a person was authenticated.

    private place   its one person
    group           the one who started the run, and approvers, if they stand in the group's list of people;
                    an empty list means nobody
    responders      where a request names them, they and nobody else may answer it; outside the conversation they see
                    it, and nothing else

Source: DESIGN section 6 ("Who may answer"), C07, C08, C12.
"""

from __future__ import annotations

from core.model import Conversation, Person, Run
from core.question import Request


def may_see(person: Person, conversation: Conversation) -> bool:
    """Tell whether a person may know that a conversation exists."""
    return person.id == conversation.owner.id or (not conversation.private and person.id in conversation.people)


def may_look(person: Person, conversation: Conversation, request: Request) -> bool:
    """Tell whether a person may see a request: with its conversation, or because it names them to answer it."""
    return person.id in request.question.responders or may_see(person, conversation)


def may_start(person: Person, conversation: Conversation) -> bool:
    """Tell whether a person may start a run here."""
    return person.id == conversation.owner.id if conversation.private else person.id in conversation.people


def may_act(person: Person, conversation: Conversation, run: Run) -> bool:
    """Tell whether a person may steer, pause, resume or cancel a run."""
    if conversation.private:
        return person.id == conversation.owner.id
    if person.id not in conversation.people:
        return False
    return person.id == run.starter.id or person.role in ("owner", "approver")


def may_delete(person: Person, conversation: Conversation) -> bool:
    """Tell whether a person may delete a conversation, with everybody's runs in it."""
    if person.id == conversation.owner.id:
        return True
    return not conversation.private and person.id in conversation.people and person.role in ("owner", "approver")


def may_answer(person: Person, conversation: Conversation, run: Run, request: Request) -> bool:
    """Tell whether a person may answer a request."""
    if request.question.responders:
        return person.id in request.question.responders
    return may_act(person, conversation, run)


def may_copy(person: Person, conversation: Conversation, run: Run, request: Request) -> bool:
    """Tell whether a person may have a request shown elsewhere, too: who may answer it, or stop its run."""
    return may_answer(person, conversation, run, request) or may_act(person, conversation, run)
