"""The command line: what is accepted, and that a wrong word says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.model import Part
from gate.settings import parse


def test_parts_of_every_kind() -> None:
    found = parse(
        [
            "--part=server=body,http://server:3000/api,OK",
            "--part=redis=redis,redis:6379",
            "--part=gateway-internal=refused,http://gateway/api/internal",
            "--licence-url=http://server:3000",
            "--api-key-file=/key/api-key",
            "--interval=2.5",
        ]
    )
    assert found.parts == (
        Part(name="server", kind="body", address="http://server:3000/api", body="OK"),
        Part(name="redis", kind="redis", address="redis:6379"),
        Part(name="gateway-internal", kind="refused", address="http://gateway/api/internal"),
    )
    assert (found.port, found.interval, found.timeout, found.licence_interval) == (8080, 2.5, 3.0, 60.0)
    assert (found.licence_url, found.key_file) == ("http://server:3000", Path("/key/api-key"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--part"),
        (["--part=Server=http,http://a"], "lower-case letters"),
        (["--part=a=ftp,http://a"], "http, body, refused, answers, tcp, redis, postgres"),
        (["--part=a=http,a:80"], "http://host"),
        (["--part=a=http,http://a:port"], "http://host"),
        (["--part=a=body,http://a"], "for kind `body` and no other"),
        (["--part=a=tcp,a:80,text"], "for kind `body` and no other"),
        (["--part=a=tcp,a"], "host:port"),
        (["--part=a=tcp,a:70000"], "host:port"),
        (["--part=a=tcp,a:0"], "host:port"),
        (["--part=a=tcp,a:1", "--part=a=tcp,b:1"], "part a is given more than once"),
        (["--part=a=tcp,a:1", "--interval=0"], "more than 0"),
        (["--part=a=tcp,a:1", "--interval=nan"], "more than 0"),
        (["--part=a=tcp,a:1", "--timeout=soon"], "more than 0"),
        (["--part=a=tcp,a:1", "--port=x"], "65535"),
        (["--part=a=tcp,a:1", "--licence-url=server"], "http://host"),
        (["--part=a=tcp,a:1", "--parts=b"], "unrecognized"),
    ],
)
def test_wrong_words_are_refused_with_what_is_accepted(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(words)
    assert (ended.value.code, said in capsys.readouterr().err) == (2, True)
