"""A server and its clones: a path, `git daemon`, `git http-backend`, and a dulwich that lies."""

import contextlib
import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.repo import Repo
from tests.support.runner import Done

# A process a connection: dulwich 1.2 closes no pack of a repository that it served, so that threads ran out
# of 20,000 file descriptors at 140 packs. What is pushed is kept loose, as git's receive-pack keeps it
# (receive.unpackLimit), since dulwich looks for each ref of a listing in every pack.
_DULWICH = """
import socketserver, subprocess, sys
from dulwich.object_store import DiskObjectStore
from dulwich.pack import PackStreamCopier
from dulwich.repo import Repo
from dulwich.server import DictBackend, TCPGitServer
class Server(socketserver.ForkingMixIn, TCPGitServer):
    max_children, request_queue_size = 200, 200
class Backend(DictBackend):
    def open_repository(self, path):
        return Repo(sys.argv[1])
def unpack(store, read_all, read_some, progress=None, *, max_input_size=None):
    words = ["git", "--git-dir", sys.argv[1], "unpack-objects", "-q"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as child:
        PackStreamCopier(store.object_format.hash_func, read_all, read_some, child.stdin).verify()
    if child.returncode:
        raise OSError("unpack-objects failed")
DiskObjectStore.add_thin_pack = unpack
server = Server(Backend({}), "127.0.0.1", 0)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@dataclass
class World:
    """The bare repository at ``path``, reached by ``url``; ``base`` is the first commit of its main."""

    path: Path
    env: dict[str, str]
    url: str = ""
    base: str = ""
    clones: list[Repo] = field(default_factory=list)

    @classmethod
    def make(cls, folder: Path, env: Mapping[str, str]) -> "World":
        """A bare repository with one commit."""
        path = folder / "server.git"
        _git(env, folder, "init", "-q", "--bare", str(path))
        world = cls(path, dict(env), str(path))
        first = world.clone("first")
        first.write("a", "one\ntwo\nthree\n")
        world.base = first.commit_all("base")
        first.git("push", "-q", "origin", "main")
        _git(env, folder, "--git-dir", str(path), "symbolic-ref", "HEAD", "refs/heads/main")
        return world

    def clone(self, name: str, **config: str) -> Repo:
        """A clone of its own user, on main."""
        repo = Repo.init(self.path.parent / name, self.env)
        settings = {"user.name": f"User {name}", "user.email": f"{name}@example.com", **config}
        with (repo.root / ".git/config").open("a") as file:
            for key, value in settings.items():
                section, _, variable = key.rpartition(".")
                file.write(f"[{section}]\n\t{variable} = {value}\n")
            file.write(
                f'[remote "origin"]\n\turl = {self.url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
            )
        if self.base:
            repo.git("fetch", "-q", "origin")
            repo.git("reset", "-q", "--hard", "origin/main")
        self.clones.append(repo)
        return repo

    def member(self, name: str, **config: str) -> Repo:
        """A clone that has joined."""
        repo = self.clone(name, **config)
        repo.ralph("fleet", "join", "origin")
        return repo

    def git(self, *args: str, code: int = 0, stdin: bytes = b"") -> str:
        """git in the server's repository."""
        return _git(self.env, self.path, *args, code=code, stdin=stdin)

    def refs(self) -> dict[str, str]:
        """Every ref of the server."""
        rows = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(row.split(" ", 1) for row in rows)

    def claim_state(self, bead: str) -> str:
        """What the server's ref says of a bead: its state trailer, empty where there is no ref."""
        ref = f"refs/ralph/claims/{bead}"
        if ref not in self.refs():
            return ""
        return self.git("log", "-1", "--format=%(trailers:key=Ralph-State,valueonly)", ref).strip()

    def landings(self, branch: str = "main") -> list[str]:
        """The subjects of the branch's commits, newest first."""
        return self.git("log", "--format=%s", branch).splitlines()


def _git(env: Mapping[str, str], cwd: Path, *args: str, code: int = 0, stdin: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *args], cwd=cwd, env=dict(env), input=stdin, capture_output=True, check=False
    )
    assert done.returncode == code, (args, done.stderr)
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(port: int) -> None:
    while True:  # a server that never starts hangs the test, which is red
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.02)


@contextlib.contextmanager
def daemon(world: World) -> Iterator[str]:
    """The world served by `git daemon`; its URL."""
    port = free_port()
    words = [
        "git",
        "daemon",
        "--reuseaddr",
        "--export-all",
        "--enable=receive-pack",
        "--listen=127.0.0.1",
        f"--port={port}",
        f"--base-path={world.path.parent}",
        "--max-connections=200",
        str(world.path.parent),
    ]
    child = subprocess.Popen(
        words, env=world.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _answers(port)
        yield f"git://127.0.0.1:{port}/{world.path.name}"
    finally:
        os.killpg(child.pid, 15)
        child.wait()


class _Backend(http.server.BaseHTTPRequestHandler):
    """`git http-backend` as a CGI program (git-http-backend(1))."""

    world: World
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self._run(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length")
        self._run(self.rfile.read(int(length)) if length else _chunks(self.rfile))

    def _run(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        env = {
            **self.world.env,
            "GIT_PROJECT_ROOT": str(self.world.path.parent),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": "member",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        done = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=False)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        rows = [row.decode().split(": ", 1) for row in head.split(b"\r\n") if b": " in row]
        status = next((value for name, value in rows if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in rows:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _chunks(stream: object) -> bytes:
    out = b""
    while size := int(stream.readline().strip() or b"0", 16):  # type: ignore[attr-defined]
        out += stream.read(size)  # type: ignore[attr-defined]
        stream.readline()  # type: ignore[attr-defined]
    return out


@contextlib.contextmanager
def http_backend(world: World) -> Iterator[str]:
    """The world served by `git http-backend`; its URL."""
    handler = type("Handler", (_Backend,), {"world": world})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/{world.path.name}"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def liar(world: World) -> Iterator[str]:
    """The world served by dulwich, which ignores what its own compare-and-set says; its URL."""
    child = subprocess.Popen(
        [sys.executable, "-c", _DULWICH, str(world.path)],
        env=world.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    port = int(child.stdout.readline())
    try:
        yield f"git://127.0.0.1:{port}/"
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def row(done: Done) -> dict[str, object]:
    """The JSON document of a claim or a landing."""
    found = done.json()
    assert isinstance(found, dict)
    return found
