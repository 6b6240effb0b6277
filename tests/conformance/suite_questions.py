"""Tools of the conformance suite that ask the client something before they answer, in the newest version's way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kg_server.plugins import Answer, McpRequest


def form(message: str, **kinds: str) -> dict[str, Any]:
    """A question to the person, with a field for each of `kinds`."""
    fields = {name: {"type": kind} for name, kind in kinds.items()}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sample(words: str, most: int = 100) -> dict[str, Any]:
    """A question to the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}}


ROOTS: Mapping[str, Any] = {"method": "roots/list", "params": {}}
NAME = form("What is your name?", name="string")


def ask(state: str = "", /, **questions: Mapping[str, Any]) -> Answer:
    """The result that asks these questions; `state` comes back with the answers."""
    kept = {"requestState": state} if state else {}
    return {"resultType": "input_required", "inputRequests": questions, **kept}


def replies(request: McpRequest) -> Mapping[str, Any]:
    """What the client answered."""
    given = request.params.get("inputResponses")
    return given if isinstance(given, Mapping) else {}


def filled(request: McpRequest, question: str, field: str) -> Any:
    """A field of a form that was accepted; None when there is none."""
    reply = replies(request).get(question)
    content = reply.get("content") if isinstance(reply, Mapping) and reply.get("action") == "accept" else None
    return content.get(field) if isinstance(content, Mapping) else None


async def elicitation(request: McpRequest) -> Answer:
    name = filled(request, "user_name", "name")
    return f"Hello, {name}!" if isinstance(name, str) else ask(user_name=NAME)


async def sampling(request: McpRequest) -> Answer:
    reply = replies(request).get("capital_question")
    return (
        f"The model said {reply['content']['text']}"
        if reply
        else ask(capital_question=sample("What is the capital of France?"))
    )


async def roots(request: McpRequest) -> Answer:
    reply = replies(request).get("client_roots")
    return f"Roots: {reply['roots']}" if reply else ask(client_roots=ROOTS)


async def state(request: McpRequest) -> Answer:
    if request.params.get("requestState") == "asked" and filled(request, "confirm", "ok") is not None:
        return "state-ok"
    return ask("asked", confirm=form("Please confirm", ok="boolean"))


async def several(request: McpRequest) -> Answer:
    questions = {"user_name": NAME, "greeting": sample("Generate a greeting", 50), "client_roots": ROOTS}
    return "All answered." if questions.keys() <= replies(request).keys() else ask("asked", **questions)


async def rounds(request: McpRequest) -> Answer:
    colour, name = filled(request, "step2", "color"), filled(request, "step1", "name")
    kept = request.params.get("requestState")
    if kept and colour:
        return f"{kept} likes {colour}."
    if name:
        return ask(str(name), step2=form("Step 2: What is your favorite color?", color="string"))
    return ask("nobody yet", step1=form("Step 1: What is your name?", name="string"))


async def capabilities(request: McpRequest) -> Answer:
    possible = {"elicitation": ("user_name", NAME), "sampling": ("greeting", sample("Generate a greeting"))}
    questions = dict(question for name, question in possible.items() if name in request.capabilities)
    return ask(**questions) if questions and not replies(request) else "Asked nothing more."


async def prompt_that_asks(request: McpRequest) -> Answer:
    """A prompt, once it knows in which context."""
    context = filled(request, "user_context", "context")
    question = form("What context should the prompt use?", context="string")
    return f"Use the context {context}." if context else ask(user_context=question)


QUESTIONS = {
    "test_input_required_result_elicitation": elicitation,
    "test_input_required_result_sampling": sampling,
    "test_input_required_result_list_roots": roots,
    "test_input_required_result_request_state": state,
    "test_input_required_result_multiple_inputs": several,
    "test_input_required_result_multi_round": rounds,
    "test_input_required_result_tampered_state": state,
    "test_input_required_result_capabilities": capabilities,
}
