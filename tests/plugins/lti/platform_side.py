# SPDX-License-Identifier: GPL-2.0-or-later
"""A learning platform by lti1p3platform on a real server, stricter than that library is.

It refuses access tokens and scores as Moodle and Canvas do: a client assertion for another
audience or used twice, a score of another form, and one that is not newer than the last (409).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import jwt
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from jwcrypto.jwk import JWK
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.message_launch import LTIAdvantageMessageLaunchAbstract
from lti1p3platform.oidc_login import OIDCLoginAbstract
from lti1p3platform.registration import Registration

MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
LEARNER, INSTRUCTOR = f"{MEMBERSHIP}Learner", f"{MEMBERSHIP}Instructor"
SCOPES = "https://purl.imsglobal.org/spec/lti-ags/scope/"
MEMBERS_SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
NEEDED = {
    "userId", "scoreGiven", "scoreMaximum", "activityProgress", "gradingProgress", "timestamp"
}  # fmt: skip


@dataclass
class Message:
    """What the platform sends when somebody opens something."""

    user: str = "student-1"
    name: str | None = "Ada Lovelace"
    roles: tuple[str, ...] = (LEARNER,)
    link: str = "link-1"
    custom: dict[str, str] = field(default_factory=dict)
    choosing: bool = False
    lineitem: bool = True
    change: dict[str, Any] = field(default_factory=dict)
    """Claims that are replaced before the message is signed; None: left out."""


class KeyPair:
    """An RSA key as the platform library wants it."""

    def __init__(self) -> None:
        key = JWK.generate(kty="RSA", size=2048)
        self.private = key.export_to_pem(private_key=True, password=None).decode()
        self.public = key.export_to_pem().decode()
        self.kid = key.thumbprint()


@cache
def first_key() -> KeyPair:
    """Of each platform until it rotates: making one takes a third of a second."""
    return KeyPair()


class _Login(OIDCLoginAbstract):
    def set_lti_message_hint(self, **fields: Any) -> None:
        self._lti_message_hint = json.dumps(fields)

    def get_redirect(self, url: str) -> str:
        return url


class _Launch(LTIAdvantageMessageLaunchAbstract):
    change: dict[str, Any]

    def get_preflight_response(self) -> dict[str, Any]:
        return dict(self._request.query_params)

    def get_launch_message(self, include_extra_claims: bool = True) -> dict[str, Any]:
        tree = super().get_launch_message(include_extra_claims) | self.change
        return {name: value for name, value in tree.items() if value is not None}

    def render_launch_form(self, launch_data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return launch_data


class Platform:
    """State and routes. `url` is known once it is served, `tool` once our server is.

    Args:
        own_key: a key that no other platform of the tests has.
    """

    def __init__(
        self, client_id: str = "duet", deployment: str = "1", own_key: bool = False
    ) -> None:
        self.client_id, self.deployment = client_id, deployment
        self.url = self.tool = ""
        self.key = KeyPair() if own_key else first_key()
        self.shown = [self.key]
        self.messages: list[Message] = []
        self.scores: dict[str, list[dict[str, Any]]] = {}
        self.columns: list[dict[str, Any]] = []
        self.chosen: list[dict[str, Any]] = []
        self.assertions: set[str] = set()
        self.fail_scores: list[int] = []
        """Statuses with which the next scores are answered."""
        self.fail_tokens: list[int] = []
        """The same of access tokens."""
        self.asked: list[str] = []
        self.app = FastAPI()
        self._routes()

    def rotate(self) -> None:
        """Sign with a new key, as of now."""
        self.key = KeyPair()
        self.shown = [self.key]

    def conf(self) -> LTI1P3PlatformConfAbstract:
        """The library's configuration; made anew, since it stores our key set for ever."""
        platform = self

        class Conf(LTI1P3PlatformConfAbstract):
            def init_platform_config(self, **_: Any) -> None: ...

            def get_registration_by_params(self, **_: Any) -> Registration:
                return (
                    Registration()
                    .set_iss(platform.url)
                    .set_client_id(platform.client_id)
                    .set_deployment_id(platform.deployment)
                    .set_launch_url(f"{platform.tool}/lti/launch")
                    .set_deeplink_launch_url(f"{platform.tool}/lti/launch?choose=1")
                    .set_oidc_login_url(f"{platform.tool}/lti/login")
                    .set_tool_key_set_url(f"{platform.tool}/lti/jwks")
                    .set_platform_public_key(platform.key.public)
                    .set_platform_private_key(platform.key.private)
                )

        made = Conf()
        made.get_registration()
        return made

    def login_address(self, message: Message) -> str:
        """Where the browser goes when somebody clicks on the activity."""
        self.messages.append(message)
        login = _Login(None, self.conf())
        if message.choosing:
            login.set_deeplinking_launch_url()
        login.set_lti_message_hint(message=len(self.messages) - 1)
        return str(login.initiate_login(message.user))

    def _authorized(self, request: Request, scope: str) -> bool:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        with contextlib.suppress(jwt.PyJWTError):
            return bool(self.conf().validate_token(token, [scope]))
        return False

    def _routes(self) -> None:
        app = self.app

        @app.get("/auth")
        def auth(request: Request) -> Any:
            query = request.query_params
            message = self.messages[json.loads(query["lti_message_hint"])["message"]]
            assert query["login_hint"] == message.user and query["prompt"] == "none"
            assert query["redirect_uri"] == f"{self.tool}/lti/launch"  # exactly as registered
            made = _Launch(request, self.conf())
            made.change = message.change
            made.set_user_data(message.user, list(message.roles), full_name=message.name)
            made.set_launch_context_claim("os24", context_title="Operating systems")
            made.set_nrps(f"{self.url}/members")
            if message.choosing:
                made.set_dl(f"{self.url}/chosen", extra_data={"csrf": "x1"})
            else:
                made.set_resource_link_claim(message.link, title="Lab")
                made.set_custom_parameters_claim(message.custom)
                column = f"{self.url}/columns/{message.link}" if message.lineitem else None
                made.set_ags(f"{self.url}/columns", column)
            return made.lti_launch()

        @app.get("/jwks")
        def jwks() -> Any:
            self.asked.append("jwks")
            return {"keys": [Registration.get_jwk(key.public) for key in self.shown]}

        @app.post("/token")
        async def token(request: Request) -> Any:
            self.asked.append("token")
            if self.fail_tokens:
                return JSONResponse({"error": "temporarily_unavailable"}, self.fail_tokens.pop(0))
            form = {name: str(value) for name, value in (await _form(request)).items()}
            claims = jwt.decode(form["client_assertion"], options={"verify_signature": False})
            wrong = claims["aud"] != f"{self.url}/token" or claims["jti"] in self.assertions
            if wrong or claims["iss"] != self.client_id or claims["exp"] < time.time():
                return JSONResponse({"error": "invalid_client"}, 400)
            self.assertions.add(claims["jti"])
            return await asyncio.to_thread(self.conf().get_access_token, form)

        @app.post("/chosen")
        async def chosen(request: Request) -> Any:
            form = await _form(request)
            decoded = jwt.decode(form["JWT"], options={"verify_signature": False})
            assert decoded["aud"] == [self.url] and decoded["iss"] == self.client_id
            data = decoded["https://purl.imsglobal.org/spec/lti-dl/claim/data"]
            assert data == {"csrf": "x1"}
            self.chosen += await asyncio.to_thread(self.conf().validate_deeplinking_resp, form)
            return {}

        @app.get("/members")
        def members(request: Request, page: int = 0) -> Any:
            if not self._authorized(request, MEMBERS_SCOPE):
                return JSONResponse({}, 401)
            people = [
                {"user_id": "teacher-1", "name": "Grace", "roles": [INSTRUCTOR]},
                {"user_id": "student-1", "name": "Ada Lovelace", "roles": [LEARNER]},
            ]
            more = {"link": f'<{self.url}/members?page=1>; rel="next"'} if page == 0 else {}
            return JSONResponse({"members": people[page : page + 1]}, headers=more)

        self._columns(app)

    def _columns(self, app: FastAPI) -> None:
        @app.get("/columns")
        def columns(request: Request) -> Any:
            if not self._authorized(request, f"{SCOPES}lineitem"):
                return JSONResponse({}, 401)
            return self.columns

        @app.post("/columns")
        async def new_column(request: Request) -> Any:
            if not self._authorized(request, f"{SCOPES}lineitem"):
                return JSONResponse({}, 401)
            column = json.loads(await request.body())
            column["id"] = f"{self.url}/columns/made-{len(self.columns)}"
            self.columns.append(column)
            return JSONResponse(column, 201)

        @app.post("/columns/{column}/scores")
        async def score(request: Request, column: str) -> Any:
            self.asked.append("score")
            if not self._authorized(request, f"{SCOPES}score"):
                return JSONResponse({}, 401)
            if self.fail_scores:
                return JSONResponse({}, self.fail_scores.pop(0))
            one = json.loads(await request.body())
            fits = request.headers["content-type"] == SCORE_TYPE and set(one) >= NEEDED
            if not fits or one["scoreMaximum"] <= 0 or one["gradingProgress"] != "FullyGraded":
                return JSONResponse({}, 400)
            taken = self.scores.setdefault(column, [])
            former = [each for each in taken if each["userId"] == one["userId"]]
            if former and moment(one) <= moment(former[-1]):
                return JSONResponse({}, 409)
            taken.append(one)
            return {}


def moment(score: dict[str, Any]) -> datetime:
    """When a score was reached; with fractions of a second."""
    assert "." in score["timestamp"]
    return datetime.fromisoformat(score["timestamp"])


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode()))


@contextlib.contextmanager
def platform_served(platform: Platform) -> Iterator[Platform]:
    """The platform on a free port, in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(platform.app, log_level="error"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    platform.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        deadline = time.monotonic() + 60
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.started
        yield platform
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
