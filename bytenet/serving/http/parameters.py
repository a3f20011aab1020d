"""The parameters of requests: from the query string, a form, or JSON, as the clients of LibreTranslate send them."""

import codecs
import json
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, Field, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.exceptions import HTTPException

_UNREADABLE_FORM = (
    "The form or the query cannot be read. It is not in UTF-8, does not have the form that its Content-Type says, or "
    "has too many fields."
)
JSON_TYPE, FORM_TYPE, MULTIPART_TYPE = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"


class TextParameters(BaseModel):
    """The parameters of all operations with texts."""

    api_key: Annotated[str | None, Field(description="needed if the server asks for keys")] = None
    q: Annotated[str | list[str], Field(description="text or texts")]

    @property
    def texts(self) -> list[str]:
        """The text or texts as a list."""
        return self.q if isinstance(self.q, list) else [self.q]


Parameters = TypeVar("Parameters", bound=TextParameters)


class DetectParameters(TextParameters):
    """The parameters of `/detect`."""

    q: Annotated[str, Field(description="text whose language is asked for")]


class TranslateParameters(TextParameters):
    """The parameters of `/translate`."""

    q: Annotated[str | list[str], Field(description="text or texts to translate")]
    source: Annotated[str, Field(description='code of its language, or "auto"')]
    target: Annotated[str, Field(description="code of the language of the translation")]
    format: Annotated[str, Field(description='"text"; HTML is refused')] = "text"
    alternatives: Annotated[int, Field(ge=0, description="number of other translations")] = 0


class StreamParameters(TranslateParameters):
    """The parameters of `/translate/stream`."""

    q: Annotated[str, Field(description="text to translate")]


async def read_parameters(request: Request, model: type[Parameters], max_fields: int) -> Parameters:
    """Read the parameters of a request. Those in the body come before those of the query string.

    A parameter that is given several times is a list.

    Args:
        request: the request.
        model: the parameters of the operation.
        max_fields: largest number of fields of a form.

    Raises:
        HTTPException: 400 if the body cannot be read or a parameter is missing or wrong; 415 for another type of body.
    """
    values = _single_or_list(_read_form(request.scope["query_string"], max_fields))
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == FORM_TYPE:
        values |= _single_or_list(_read_form(await request.body(), max_fields))
    elif content_type == MULTIPART_TYPE:
        values |= _single_or_list(await _read_multipart(request, max_fields))
    elif body := await request.body():
        if content_type != JSON_TYPE:
            raise HTTPException(415, f"The body has an unknown type. Send {JSON_TYPE} or {FORM_TYPE} as Content-Type.")
        values |= _read_json(body)
    try:
        parameters = model.model_validate(values)
    except ValidationError as error:
        raise HTTPException(400, _explained(error)) from None
    for text in parameters.texts:
        _check_text(text)
    return parameters


def described_parameters(model: type[BaseModel]) -> dict[str, Any]:
    """What the OpenAPI description of an operation says about its parameters."""
    schema = model.model_json_schema()
    content = {media_type: {"schema": schema} for media_type in (JSON_TYPE, FORM_TYPE, MULTIPART_TYPE)}
    query = [
        {"name": name, "in": "query", "required": False, "schema": field, "description": "instead of the body"}
        for name, field in schema["properties"].items()
    ]
    return {"parameters": query, "requestBody": {"content": content, "required": False}}


def _single_or_list(items: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, list] = {}
    for name, value in items:
        values.setdefault(name, []).append(value)
    return {name: given[0] if len(given) == 1 else given for name, given in values.items()}


def _read_form(body: bytes, max_fields: int) -> list[tuple[str, str]]:
    """The fields of a form in UTF-8. (Starlette reads characters that are not percent-encoded as Latin-1.)"""
    try:
        return parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=max_fields, errors="strict")
    except ValueError:
        raise HTTPException(400, _UNREADABLE_FORM) from None


async def _read_multipart(request: Request, max_fields: int) -> list[tuple[str, Any]]:
    """The fields of a form in UTF-8. (Starlette takes any other charset, and reads wrong UTF-8 as Latin-1.)"""
    _, options = parse_options_header(request.headers["content-type"])
    try:
        (await request.body()).decode("utf-8")
        if codecs.lookup(options.get(b"charset", b"utf-8").decode("latin-1")).name != "utf-8":
            raise ValueError
        # The size of the whole body is limited already.
        async with request.form(max_files=0, max_fields=max_fields, max_part_size=2**63) as form:
            return form.multi_items()
    except (ValueError, LookupError):  # errors of python-multipart
        raise HTTPException(400, _UNREADABLE_FORM) from None


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, 'The body is not JSON in UTF-8. Send an object such as {"q": "..."}.') from None
    if not isinstance(content, dict):
        raise HTTPException(400, 'The body is no JSON object. Send an object such as {"q": "..."}.')
    return content


def _explained(error: ValidationError) -> str:
    """The first mistake as one sentence, without the wrong value."""
    mistake = error.errors(include_url=False, include_input=False, include_context=False)[0]
    name = mistake["loc"][0]
    if mistake["type"] == "missing":
        return f"The parameter {name} is missing."
    return f"The parameter {name} is wrong: {mistake['msg'][0].lower()}{mistake['msg'][1:]}."


def _check_text(text: str) -> None:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise HTTPException(400, "The text has a NUL or half of a surrogate pair. Remove these characters.")
