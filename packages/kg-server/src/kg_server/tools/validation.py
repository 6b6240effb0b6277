"""Tool arguments against their schema, with errors that name the field and never echo its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from kg_server.tools.schemas import BY_NAME

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

LIST_MAX, MOST_TOLD = 1_000, 8


def problem(tool: str, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, in one sentence; empty when nothing is."""
    return problem_with(tool, arguments, lambda: _validator(tool))


def problem_with(tool: str, arguments: Mapping[str, Any], validator: Callable[[], Draft202012Validator]) -> str:
    """As `problem`, with the validator of a tool's schema."""
    for field, value in arguments.items():
        if isinstance(value, list) and len(value) > LIST_MAX:  # checking a million entries would hold up everybody
            return f"Input validation error in {tool}: {field[:40]} has {len(value)} entries; at most {LIST_MAX}"
    found = islice(validator().iter_errors(arguments), MOST_TOLD)
    errors = sorted(found, key=lambda error: (list(map(str, error.path)), error.validator))
    if not errors:
        return ""
    return f"Input validation error in {tool}: {'; '.join(dict.fromkeys(_sentence(error) for error in errors))}"


def is_schema(schema: Mapping[str, Any]) -> bool:
    """Whether it is a JSON Schema that describes an object."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return isinstance(schema, Mapping) and schema.get("type") == "object"


def validator_of(schema: Mapping[str, Any]) -> Draft202012Validator:
    """The validator of a schema; a reference to another document is never fetched."""
    from jsonschema import Draft202012Validator  # some 3 MB and 60 ms that a server without tool calls does without
    from referencing import Registry

    return Draft202012Validator(schema, registry=Registry())


@cache
def _validator(tool: str) -> Draft202012Validator:
    return validator_of(BY_NAME[tool].schema)


def _sentence(error: ValidationError) -> str:
    field = ".".join(str(step) for step in error.path) or "the arguments"
    wanted: Any = error.validator_value
    sent: Any = error.instance
    schema: Any = error.schema
    match error.validator:
        case "required":
            return f"{', '.join(name for name in wanted if name not in sent)} missing"
        case "additionalProperties":
            known = schema.get("properties", {})
            unknown = [str(name)[:40] for name in sent if name not in known][:MOST_TOLD]
            return f"unknown field {', '.join(unknown)} (known: {', '.join(known)})"
        case "type":
            return f"{field} must be of type {wanted}"
        case "enum":
            return f"{field} must be one of {', '.join(map(str, wanted))}"
        case "minimum" | "maximum":
            return f"{field} must be from {schema.get('minimum')} to {schema.get('maximum')}"
        case other:
            return f"{field} breaks the rule {other}"
