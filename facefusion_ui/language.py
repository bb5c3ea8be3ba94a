"""Which language a visitor reads: what they chose (``?lang=``, kept in a cookie), else what the
browser asks for.

The page exists once per language (``/`` and ``/zh``). The middleware sends visitors of ``/`` to the
right one and tells Gradio's own script which language that is.
"""

from __future__ import annotations

import re
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from facefusion_ui.texts import LANGS, Lang

COOKIE = "ff_lang"
PATHS: dict[Lang, str] = {"en": "/", "zh": "/zh"}
TAGS: dict[Lang, str] = {"en": "en", "zh": "zh-CN"}
YEAR_S = 31_536_000

SCRIPT = (
    "<script>(()=>{{for(const[k,v]of[['language','{tag}'],['languages',['{tag}']]])"
    "Object.defineProperty(navigator,k,{{get:()=>v,configurable:true}})}})()</script>"
)
"""Gradio reads ``navigator.language`` in its first script, so this has to stand before it."""


def choose(query: str, cookie: str, accepted: str) -> Lang:
    """The language by query string, cookie header and Accept-Language header, in this order."""
    for asked in (*parse_qs(query).get("lang", []), _from_cookie(cookie)):
        if asked in LANGS:
            return asked
    return "zh" if _first(accepted).lower().startswith("zh") else "en"


def _from_cookie(header: str) -> str:
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(header)
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def _first(accepted: str) -> str:
    """The language with the highest weight in an Accept-Language header."""

    def weight(part: str) -> float:
        found = re.search(r";\s*q=([0-9.]+)", part)
        return float(found.group(1)) if found else 1.0

    known = [part for part in accepted.split(",") if re.match(r"\s*(zh|en)\b", part, re.I)]
    return max(known, key=weight, default="en").strip()


class LanguageChoice:
    """ASGI middleware; leaves everything but the pages themselves alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        here = _page(scope)
        if here is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        query = scope.get("query_string", b"").decode("latin-1")
        asked = [lang for lang in LANGS if lang in parse_qs(query).get("lang", [])]
        wanted = here
        if asked or here == "en":  # an address that names a language is taken at its word
            accepted = headers.get("accept-language", "")
            wanted = choose(query, headers.get("cookie", ""), accepted)
        cookie = _cookie(asked[0], secure=_secure(scope)) if asked else None
        if wanted != here:
            await _move(send, PATHS[wanted], query, cookie)
            return
        await self._app(scope, receive, _Rewriter(send, here, cookie))


def _page(scope: Scope) -> Lang | None:
    """The language of the page that is asked for; None for anything else."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    return next((lang for lang in LANGS if PATHS[lang] == path), None)


def _secure(scope: Scope) -> bool:
    forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
    return bool(scope.get("scheme") == "https" or forwarded.startswith("https"))


def _cookie(lang: Lang, *, secure: bool) -> str:
    # a page inside another site's frame (a Space) only gets its cookie with these flags
    flags = "SameSite=None; Secure; Partitioned" if secure else "SameSite=Lax"
    return f"{COOKIE}={lang}; Path=/; Max-Age={YEAR_S}; {flags}"


async def _move(send: Send, path: str, query: str, cookie: str | None) -> None:
    kept = urlencode([pair for pair in parse_qsl(query) if pair[0] != "lang"])
    address = f".{path}" + (f"?{kept}" if kept else "")
    headers = [(b"location", address.encode()), (b"cache-control", b"no-store")]
    if cookie:
        headers.append((b"set-cookie", cookie.encode()))
    await send({"type": "http.response.start", "status": 307, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


class _Rewriter:
    """Holds back the page until it is whole, then sends it with language and script put in."""

    def __init__(self, send: Send, lang: Lang, cookie: str | None) -> None:
        self._send, self._lang, self._cookie = send, lang, cookie
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body" or self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        body = self._rewritten()
        headers = MutableHeaders(scope=self._start)
        headers["content-length"] = str(len(body))
        headers["content-language"] = TAGS[self._lang]
        headers["vary"] = "accept-language, cookie"
        headers["cache-control"] = "no-store"
        if self._cookie:
            headers.append("set-cookie", self._cookie)
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})

    def _rewritten(self) -> bytes:
        tag = TAGS[self._lang]
        body = re.sub(
            rb'(<html[^>]*?)lang="[^"]*"', rb'\1lang="%s"' % tag.encode(), self._body, count=1
        )
        return body.replace(b"<head>", b"<head>" + SCRIPT.format(tag=tag).encode(), 1)
