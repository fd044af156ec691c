#!/usr/bin/env python3
"""Who is let in, from where, and what hostile bytes come to. Prints TAP.

    tests/serve/security.py PAWL
"""

import hashlib
import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from server import API, Closed, Server, flow_of  # noqa: E402
from world import PATIENCE, USAGE, Broken, run_all  # noqa: E402

SHORT = "name: short\nnodes:\n  - {name: a, jq: '{n: 1}'}\n"
ASK = "name: ask\nnodes:\n  - {name: q, approval: {prompt: Go?, options: [go, stay]}, output: said}\n"
SCOPES = ["read", "run", "debug", "admin"]
HIDDEN = "s3cr3t-va1ue-of-a-secret"


def outer_address():
    """An address of this machine that others know it by; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found = probe.getsockname()[0]
        except OSError:
            return None
    return None if found.startswith("127.") else found


def token(world, name, scope, *words):
    return world("token", "make", name, "--scope", scope, "--json", *words).gives(0).json["token"]


def in_seconds(number):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + number))


def from_another_site(world):
    """a cross-site POST and WebSocket, a null origin and another Host are refused, with a token and without"""
    with Server(world) as s:
        body = {"definition": flow_of(SHORT)}
        host = f"127.0.0.1:{s.port}"
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Origin": f"http://{host}.evil.example"}, {"Origin": f"http://evil.example/{host}"},
                        {"Origin": "http://127.0.0.1:1"}):
            s.ask("POST", "/runs", body, headers).gives(403).has(code="wrong_origin")
            s.ask("DELETE", "/runs/1", headers=headers).gives(403)
        for name in ("evil.example", "127.0.0.1.evil.example", f"localhost.evil.example:{s.port}", "[::2]", "127.0.0.2"):
            s.ask("GET", "/runs", headers={"Host": name}).gives(403).has(code="wrong_host")
        for path in ("/healthz", "/readyz", "/metrics"):
            s.ask("GET", path, headers={"Host": "evil.example"}, root="").gives(403)
        for name in ("localhost", f"LOCALHOST:{s.port}", "[::1]:80"):
            s.ask("GET", "/runs", headers={"Host": name}).gives(200)
        s.ask("POST", "/runs", body, {"Origin": f"http://{host}"}).gives(201)
        for path in ("/ws", "/debug/run-1"):
            with s.talk(path, headers={"Origin": "http://evil.example"}) as talk:
                world.same(talk.status, 403, f"a WebSocket to {path} from another site")
        with s.talk("/ws", headers={"Origin": f"http://{host}"}) as talk:
            world.same(talk.status, 101)
        world.same(len(s.ask("GET", "/runs").json.runs), 1, "runs that were begun")


def looking_from_another_site(world):
    """a GET that a page of another site or port makes, as for an image, attaches no debugger and reads nothing; a link is followed"""
    with Server(world) as s:
        s.begin("t", ASK)
        for site in ("cross-site", "same-site", "Cross-Site", "anything", ""):
            image = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
            for root in ("/api/v1", "/api"):
                for path in ("/runs", "/debug/t", "/debug/t/events", "/runs/t/events?attach=true"):
                    s.ask("GET", path, headers=image, root=root).gives(403).has(code="wrong_origin")
            s.ask("HEAD", "/debug/t/events", headers=image).gives(403)
            s.ask("POST", "/nothing", {}, headers=image, root="").gives(403)
            with s.talk("/debug/t", root="", headers=image) as talk:
                world.same(talk.status, 403, f"a WebSocket with Sec-Fetch-Site: {site}")
            link = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
            s.ask("GET", "/", headers=link, root="").gives(200, 404)
            s.ask("GET", "/debug/t", headers=link, root="").gives(200, 404)
            s.ask("GET", "/healthz", headers=link, root="").gives(200)
        world.same(s.ask("GET", "/runs/t").json.status, "interrupted")
        for site in ("same-origin", "none"):
            s.ask("GET", "/runs/t", headers={"Sec-Fetch-Site": site}).gives(200)
            with s.talk("/debug/t", root="", headers={"Sec-Fetch-Site": site}) as talk:
                world.same(talk.status, 101, f"a WebSocket with Sec-Fetch-Site: {site}")


def only_with_a_token(world):
    """with --auth nothing is answered without a token but health, and a token that was revoked or has expired is none"""
    good, short = token(world, "ci", "admin"), token(world, "brief", "read", "--expires", in_seconds(6))
    with Server(world, "--auth") as s:
        for path in ("/runs", "/openapi.json", "/server", "/tokens", "/operations", "/runs/1/events", "/ws"):
            s.ask("GET", path).gives(401).has(code="no_token")
        world.same(s.ask("GET", "/runs").headers["www-authenticate"], "Bearer")
        s.ask("GET", "/metrics", root="").gives(401)
        s.ask("GET", "/healthz", root="").gives(200)
        s.ask("GET", "/readyz", root="").gives(200)
        for wrong in (good[:-1], good + "x", good.lower(), "pawl_" + "A" * 43, "", "x" * 8000):
            s.ask("GET", "/runs", token=wrong).gives(401)
        for target in (f"/runs?token={good}", f"/runs?access_token={good}", f"/events?token={good}"):
            s.ask("GET", target).gives(401)
        s.ask("GET", "/runs", token=good).gives(200)
        s.ask("GET", "/runs", headers={"Authorization": f"Basic {good}"}).gives(401)
        s.token = good
        run = s.begin("t", ASK)
        world.same(run.thread, "t")
        stream = s.events("/runs/t/events?from=0", token=good)
        talk = s.talk("/ws")
        world.same((stream.status, talk.status), (200, 101))
        talk.call("run_get", {"thread": "t"})
        world.until(lambda: s.ask("GET", "/runs", token=short).status == 401, "the token expires")
        other = token(world, "other", "admin")
        world("token", "revoke", "ci").gives(0)
        world.until(lambda: s.ask("GET", "/runs", token=good).status == 401, "the revoked token is none")
        list(stream)  # it ends
        try:
            while True:
                talk.message()
        except Closed as closed:
            world.same(closed.code, 1008, "how the WebSocket of the revoked token ends")
        s.token = other
        s.ask("GET", "/runs").gives(200)
        for name in (good, other, short):
            if name in s.said:
                raise Broken("a token is in the log")


def tokens_in_no_log(world):
    """the most talkative log has neither tokens, nor queries, nor bodies, nor line ends of others"""
    good = token(world, "ci", "admin")
    with Server(world, "--auth", "--log-level", "debug", token=good) as s:
        s.ask("GET", f"/runs?after={good}").gives(400)
        s.ask("POST", "/sign-in", {"token": good}).gives(200)
        s.ask("GET", "/runs/x%0d%0aINFO%20forged%1b[2J").gives(404)
        s.ask("GET", "/runs", headers={"Authorization": "Bearer pawl_wrong-one"}).gives(401)
        s.begin("t", SHORT)
        for part in (good, "pawl_wrong-one", "\x1b", "\nINFO forged", SHORT.split("\n")[0]):
            if part in s.said:
                raise Broken(f"the log has {part!r}:\n{s.said}")
        if "path=/api/v1/runs" not in s.said or "token=ci" not in s.said:
            raise Broken(f"the log does not say who asked for what:\n{s.said}")


def scopes_of_every_row(world):
    """each route is refused to a token of the scope below it, and not to one of its own"""
    tokens = {scope: token(world, f"a-{scope}", scope) for scope in SCOPES}
    with Server(world, "--auth", "--rate", 100000) as s:
        document = s.ask("GET", "/openapi.json", token=tokens["read"]).gives(200).json
        for path, item in document.paths.items():
            for method, row in item.items():
                if not row["x-scope"]:
                    continue  # signing in and out, and WebSockets, whose messages have scopes
                needed = SCOPES.index(row["x-scope"])
                target = path.replace("{thread}", "nobody").replace("{name}", "nobody").replace("{id}", "1")
                body = {} if row.requestBody else None
                stream = list(row.responses["200"].content or {}) == ["text/event-stream"] if "200" in row.responses else False
                for i, scope in enumerate(SCOPES):
                    if stream:
                        with s.events(target, token=tokens[scope]) as events:
                            status = events.status
                    else:
                        status = s.ask(method.upper(), target, body, token=tokens[scope]).status
                    if (status == 403) != (i < needed):
                        raise Broken(f"{method} {path} with `{scope}`: {status}; it needs {row['x-scope']}")
        for scope in SCOPES:
            you = s.ask("GET", "/server", token=tokens[scope]).gives(200).json.you
            world.same((you.token, you.scope, you.inline), (f"a-{scope}", scope, scope == "admin"), "who asks")
            needed = [SCOPES.index(one) for one in you.beyond.values()]
            world.same([i for i in needed if i <= SCOPES.index(scope)], [], f"what `{scope}` is said to be too small for, and is not")
            world.same(you.beyond.get("run_start"), "run" if scope == "read" else None, "starting a run")
            world.same(you.beyond.get("continue"), "debug" if scope in ("read", "run") else None, "stepping")
        problem = s.ask("POST", "/runs", {"workflow": "a"}, token=tokens["read"]).gives(403)
        problem.says("`run`", "`read`")
        for body in ({"definition": flow_of(SHORT)}, {"definition": flow_of(SHORT), "debug": {}}):
            s.ask("POST", "/runs", body, token=tokens["run"]).gives(403)
        s.ask("PUT", "/workflows/ask", {"text": ASK}, token=tokens["admin"]).gives(200)
        s.ask("POST", "/runs", {"workflow": "ask", "thread": "t"}, token=tokens["run"]).gives(201)
        s.ask("POST", "/runs", {"workflow": "ask", "debug": {}}, token=tokens["run"]).gives(403)
        s.ask("POST", "/test_runs/schedule_debug", {"workflow": "ask"}, token=tokens["run"]).gives(403)
        s.ask("POST", "/runs/t/resume", {"definition": flow_of(SHORT)}, token=tokens["run"]).gives(403)
        s.ask("GET", "/runs/t/events?attach=true", token=tokens["run"]).gives(403)
        s.ask("GET", "/debug/t/events", token=tokens["run"]).gives(403)
        for name, field in (("check", "path"), ("graph", "path")):
            s.ask("POST", f"/workflows/{name}", {field: "/etc/passwd"}, token=tokens["debug"]).gives(403)
        s.ask("POST", "/workflows/kinds", {"kinds": ["/etc"]}, token=tokens["debug"]).gives(403)
        s.token = tokens["run"]
        with s.talk() as talk:
            world.same(talk.refuse("step", {"thread": "t", "kind": "over"}).data.status in (400, 403), True)
            talk.refuse("run_start", {"definition": flow_of(SHORT)})
            talk.refuse("subscribe", {"thread": "t", "attach": True})
            talk.refuse("tokens")
        with s.talk("/debug/t") as talk:
            world.same(talk.status, 403)
    with Server(world, "--auth", "--allow-inline") as s:
        s.ask("POST", "/runs", {"definition": flow_of(SHORT)}, token=tokens["run"]).gives(201)


def scopes_over_a_websocket(world):
    """what a scope is too small for is refused as over REST: 403, forbidden, and which scope it needs"""
    tokens = {scope: token(world, scope, scope) for scope in ("read", "run")}
    with Server(world, "--auth") as s:
        for scope, name, data, needed in (
                ("read", "run_start", {"workflow": "a"}, "run"), ("read", "step", {"thread": "t", "kind": "over"}, "debug"),
                ("run", "run_start", {"definition": flow_of(SHORT)}, "admin"), ("run", "token_make", {"name": "a", "scope": "read"}, "admin"),
                ("read", "subscribe", {"thread": "t", "attach": True}, "debug"), ("read", "check", {"path": "a.yaml"}, "admin")):
            s.token = tokens[scope]
            with s.talk() as talk:
                asked = talk.say(name, data)
                answer = talk.message()
                world.same((answer.request_id, answer.type, answer.data.status, answer.data.code, answer.data.scope),
                           (asked, "error", 403, "forbidden", needed), name)
        s.ask("POST", "/runs", {"definition": flow_of(SHORT)}, token=tokens["run"]).gives(403).has(code="forbidden", scope="admin")


def names_of_keys(world):
    """nobody can have a run ready that somebody else's Idempotency-Key then finds"""
    tokens = {name: token(world, name, "run") for name in ("alice", "mallory")}
    world.write("flows/a.yaml", SHORT)
    name = "key-" + hashlib.sha256(b"alice\0order-1").hexdigest()[:32]
    with Server(world, "--auth", "--workflows", "flows") as s:
        for path, body in (("/runs", {"workflow": "a", "thread": name}), ("/runs/t/fork", {"new_thread": name}), ("/runs/t/replay", {"new_thread": name})):
            s.ask("POST", path, body, token=tokens["mallory"]).gives(403).has(code="forbidden")
        s.token = tokens["mallory"]
        with s.talk() as talk:
            talk.say("run_start", {"workflow": "a", "thread": name})
            world.same(talk.message().data.status, 403)
        for status in (201, 200):
            answer = s.ask("POST", "/runs", {"workflow": "a"}, {"Idempotency-Key": "order-1"}, token=tokens["alice"]).gives(status)
            world.same(answer.json.thread, name)
        s.ask("GET", f"/runs/{name}").gives(200)
        s.ask("POST", "/runs", {"workflow": "a", "thread": "key-1"}).gives(201)


def signing_in(world):
    """the token of a browser is in a cookie that scripts cannot read and other sites do not send"""
    good = token(world, "me", "read")
    with Server(world, "--auth") as s:
        s.ask("POST", "/sign-in", {"token": good[:-1] + "?"}).gives(401)
        for body in ({}, {"token": 1}, [], None, {"token": good + "\r\nX: y"}, b"{", b"\xff", {"token": "a; b"}):
            s.ask("POST", "/sign-in", body).gives(400, 401)
        s.ask("POST", "/sign-in", b"[" * 4000).gives(400, 413)
        s.ask("POST", "/sign-in", {"token": good}, {"Origin": "http://evil.example"}).gives(403)
        for _ in range(3):
            cookie = s.ask("POST", "/sign-in", {"token": good}).gives(200).headers["set-cookie"]
        for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
            if part not in cookie:
                raise Broken(f"the cookie has no {part}: {cookie}")
        if "Secure" in cookie:
            raise Broken(f"a browser would not keep the cookie of a page of http: {cookie}")
        behind = {"Host": "pawl.example.org", "Origin": "https://pawl.example.org"}
        for path, body in (("/sign-in", {"token": good}), ("/sign-out", {})):
            cookie = s.ask("POST", path, body, behind).gives(200).headers["set-cookie"]
            if "; Secure" not in cookie:
                raise Broken(f"{path} behind a proxy that speaks TLS: {cookie}")
        value = f"pawl_token={good}"
        s.ask("GET", "/runs", headers={"Cookie": f"other=1; {value}; more=2"}).gives(200)
        s.ask("GET", "/runs", headers={"Cookie": f"x{value}"}).gives(401)
        with s.talk("/ws", headers={"Cookie": value}) as talk:
            world.same(talk.status, 101)
        s.ask("POST", "/runs", {"workflow": "a"}, {"Cookie": value, "Origin": "http://evil.example"}).gives(403)
        gone = s.ask("POST", "/sign-out", {}).gives(200).headers["set-cookie"]
        if "Max-Age=0" not in gone:
            raise Broken(f"signing out: {gone}")


def names_of_the_server(world):
    """--host takes names; a page at another port of such a name is of another site"""
    for wrong in ("pawl.example.org:8443", "https://pawl.example.org", "a b", ""):
        world("serve", "--host", wrong).gives(2).says("--host")
    world("serve", "--auth", "--store", "memory:").gives(2)
    with Server(world, "--host", "pawl.example.org") as s:
        body = {"definition": flow_of(SHORT)}
        for origin, status in (("https://pawl.example.org", 201), ("http://pawl.example.org", 201),
                               ("https://pawl.example.org:444", 403), ("https://pawl.example.org.evil.example", 403)):
            s.ask("POST", "/runs", body, {"Host": "pawl.example.org", "Origin": origin}).gives(status)


def at_other_addresses(world):
    """an address that others can reach is refused without --auth, and taken with it"""
    for address in ("0.0.0.0:0", "[::]:0", ":0", "127.0.0.1.example:0", "128.0.0.1:0"):
        world("serve", "--listen", address).gives(USAGE)
    with Server(world, "--auth", listen="0.0.0.0:0") as s:
        s.ask("GET", "/runs").gives(401)


def tokens_that_root_makes(world):
    """root makes a token in the store of a service as its user: the server reads it, and every file is the user's"""
    other = 4242
    if os.geteuid() != 0 or not world.open_to_all(other):
        print("# left out: only root can run as another user")
        return
    for kind, url in (("sqlite", "sqlite:{}/pawl.db"), ("file", "file:{}/store")):
        place = world.folder / kind
        place.mkdir(mode=0o700)
        os.chown(place, other, other)
        url = url.format(place)
        for _ in ("a store that is to be made", "one that is there"):
            name = f"{kind}-{_[-1]}"
            made = world("token", "make", name, "--scope", "read", "--json", "--store", url).gives(0).json["token"]
            world("token", "list", "--store", url).gives(0).says(name)
            with Server(world, "--auth", "--store", url, user=other) as s:
                s.ask("GET", "/runs", token=made).gives(200)
                world("token", "revoke", name, "--store", url).gives(0)
                world.until(lambda s=s, made=made: s.ask("GET", "/runs", token=made).status == 401, "it is revoked")
        for path in [place, *place.rglob("*")]:
            if path.lstat().st_uid != other:
                raise Broken(f"{path} belongs to {path.lstat().st_uid}")
    hidden = world.folder / "hidden"
    hidden.mkdir(mode=0o700)
    answer = world("token", "list", "--store", f"sqlite:{world.folder}/sqlite/pawl.db", cwd=hidden)
    answer.gives(0)  # from a folder that only root may look into, too
    world("runs", "--store", f"sqlite:{world.folder}/sqlite/pawl.db").gives(0)


def sockets_that_are_handed_over(world):
    """a socket that systemd hands over is refused without --auth where others can reach it, and taken with it"""
    def serve(host, *words):
        with socket.create_server((host, 0)) as line:
            environ = {**os.environ, "LISTEN_FDS": "1"}
            start = 'LISTEN_PID=$$ exec "$0" "$@"'
            return line.getsockname()[1], subprocess.Popen(
                ["sh", "-c", start, world.pawl, "serve", "--json", *words], cwd=world.folder, env=environ, text=True,
                pass_fds=[3], preexec_fn=lambda: os.dup2(line.fileno(), 3),  # pylint: disable=subprocess-popen-preexec-fn
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for host in ("0.0.0.0", "127.0.0.1"):
        for words in ((), ("--auth",)):
            port, process = serve(host, *words)
            try:
                if host == "0.0.0.0" and not words:
                    out, err = process.communicate(timeout=PATIENCE)
                    world.same(process.returncode, USAGE, "a socket that others reach, without --auth")
                    if f"0.0.0.0:{port}, and no token is needed" not in out:
                        raise Broken(f"it does not say why: {out}{err}")
                    continue
                if not process.stdout.readline():
                    raise Broken(f"{host} {words}: it does not start: {process.stderr.read()}")
                line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                line.request("GET", API + "/runs")
                world.same(line.getresponse().status, 401 if words else 200, f"{host} {words}")
                line.close()
            finally:
                process.terminate()
                process.communicate(timeout=PATIENCE)


def certificates_that_are_renewed(world):
    """with TLS, SIGHUP has new connections see the new certificate; one that does not fit is logged, and the old one kept"""
    def make(name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-subj", f"/CN={name}", "-keyout", "key.new", "-out", "cert.new"], cwd=world.folder, check=True,
                       capture_output=True, timeout=PATIENCE)
        (world.folder / "key.new").rename(world.folder / "key.pem")
        (world.folder / "cert.new").rename(world.folder / "cert.pem")
        return ssl.PEM_cert_to_DER_cert(world.read("cert.pem"))

    def connect():
        anything = ssl._create_unverified_context()  # pylint: disable=protected-access
        return anything.wrap_socket(socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE))

    def shown():
        with connect() as line:
            return line.getpeercert(True)
    first = make("first")
    with Server(world, "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--log-level", "info") as s:
        open_one = connect()
        world.same(shown(), first, "the certificate")
        second = make("second")
        world.same(shown(), first, "the certificate that was not asked to be read")
        s.process.send_signal(signal.SIGHUP)
        world.until(lambda: shown() == second, "the new certificate is shown")
        world.until(lambda: "was read again" in s.said, "the log says so")
        make("third")
        (world.folder / "cert.pem").write_text("nothing of that kind")
        s.process.send_signal(signal.SIGHUP)
        world.until(lambda: "cannot be renewed" in s.said and "cert.pem" in s.said, "the log says why")
        world.same(shown(), second, "the certificate that is kept")
        open_one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        world.same(open_one.recv(12), b"HTTP/1.1 200", "a connection from before")
        open_one.close()
    with Server(world) as s:
        s.process.send_signal(signal.SIGHUP)
        world.same(s.process.wait(PATIENCE), 0, "SIGHUP without TLS")


def names_that_lead_elsewhere(world):
    """path traversal in names of workflows, runs and files"""
    world.write("flows/in.yaml", SHORT)
    world.write("out.yaml", SHORT)
    with Server(world, "--workflows", "flows") as s:
        odd = ["..%2fout", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e%2fout", ".hidden", "a%00b", "in.yaml%2f..%2fin", "..", "."]
        for name in odd:
            s.ask("GET", f"/workflows/{name}").gives(400, 404)
            s.ask("PUT", f"/workflows/{name}", {"text": SHORT}).gives(400, 404, 405)
            s.ask("DELETE", f"/workflows/{name}").gives(400, 404, 405)
        for name in ("../out", "/etc/passwd", "in/../../out", "x.lock", "x.new", "", "a" * 101):
            s.ask("POST", "/runs", {"workflow": name}).gives(400, 404)
        s.ask("POST", "/runs", {"workflow": "in"}).gives(201)
        for main, files in (("../a.yaml", {"../a.yaml": SHORT}), ("/etc/a.yaml", {"/etc/a.yaml": SHORT})):
            s.ask("POST", "/runs", {"definition": {"main": main, "files": files}}).gives(201, 400, 422)
        if (world.folder.parent / "a.yaml").exists() or Path("/etc/a.yaml").exists():
            raise Broken("a file that was sent is outside of the store")
        for thread in ("../../x", "a/../b", "\u0000", "a\nb", "x" * 5000):
            s.ask("POST", "/runs", {"workflow": "in", "thread": thread}).gives(201, 400)
        s.ask("POST", "/store/backup", {"path": "relative.db"}).gives(400)
        for target in ("/api/v1/../../etc/passwd", "/../etc/passwd", "/api/v1/%2e%2e/metrics", "//api/v1/runs", "/api/v1//runs"):
            s.ask("GET", target, root="").gives(404, 400)


def lines_that_end_early(world):
    """CR and LF in what is sent come back in no header"""
    with Server(world) as s:
        run = s.ask("POST", "/runs", {"definition": flow_of(SHORT), "thread": "a\r\nSet-Cookie: x=1"})
        if "set-cookie" in run.headers:
            raise Broken(f"a header was injected: {run}")
        key = {"Idempotency-Key": "k\t\xe9"}
        s.ask("POST", "/runs", {"definition": flow_of(SHORT)}, key).gives(201)
        for target in ("/runs/x%0d%0aSet-Cookie:%20x=1", "/%0d%0aX:%20y", "/runs?limit=%0d%0a"):
            reply = s.ask("GET", target)
            if "set-cookie" in reply.headers or "x" in reply.headers:
                raise Broken(f"a header was injected: {reply}")
        got = s.raw(b"GET /api/v1/runs/\r\nX: y HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        world.same(got.split(b" ")[1][:1], b"4", "a line end in the target")


def bodies_that_are_too_much(world):
    """large and deep bodies and headers are refused, and cost little"""
    with Server(world, "--max-body", 1) as s:
        s.ask("POST", "/runs", b'{"input":' + b"[" * 100000 + b"]" * 100000 + b"}").gives(422).has(code="limit", line=1, column=521)
        s.ask("POST", "/runs", b'{"a":' * 600 + b"1" + b"}" * 600).gives(422).has(code="limit", field="body")
        s.ask("POST", "/runs", b" " * (1 << 20)).gives(400)
        s.ask("POST", "/runs", b"x" * ((1 << 20) + 1)).gives(413)
        s.ask("GET", "/runs", headers={"X-Long": "x" * 60000}).gives(431)
        s.ask("GET", "/runs/" + "x" * 60000).gives(414, 431)
        s.ask("GET", "/runs?" + "&".join(f"a{i}=1" for i in range(100))).gives(400, 422)
        digits = b'{"workflow":"a","version":' + b"9" * 200000 + b"}"
        s.ask("POST", "/runs", digits).gives(400)
        with s.talk() as talk:
            talk.frame(talk.TEXT, b'{"type":"runs","request_id":1,"data":' + b"[" * 100000)
            world.same(talk.message().data.code, "limit")
        got = s.raw(b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        world.same(got.split(b" ")[1], b"413")
        s.ask("GET", "/runs").gives(200)


def askers_that_take_turns(world):
    """--rate holds for every asker, also for two whom the server would keep in the same place"""
    def place(name):
        number = 2166136261
        for byte in name.encode():
            number = (number ^ byte) * 16777619 & 0xffffffff
        return number % 1024
    places = {}
    for i in range(2, 250):
        places.setdefault(place(f"127.0.0.{i}"), []).append(f"127.0.0.{i}")
    pairs = [names[:2] for names in places.values() if len(names) > 1]
    with Server(world, "--rate", 1) as s:
        for pair in pairs[:3]:
            refused = {name: 0 for name in pair}
            for name in pair * 30:
                line = http.client.HTTPConnection("127.0.0.1", s.port, timeout=PATIENCE, source_address=(name, 0))
                line.request("GET", API + "/nothing")
                refused[name] += line.getresponse().status == 429
                line.close()
            if not all(refused.values()):
                raise Broken(f"60 requests of two askers, and refused were {refused}")


def connections_that_are_too_many(world):
    """--max-connections is for all, --max-connections-each for one address of another machine; both say so"""
    def connect(n, host, port):
        return [socket.create_connection((host, port), timeout=PATIENCE) for _ in range(n)]

    def kept(lines):
        return [line for line in lines if not select.select([line], [], [], 0.2)[0]]

    def is_turned_away(line, status):
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        got = line.recv(65536)
        if not got.startswith(b"HTTP/1.1 %d " % status) or b"Retry-After:" not in got:
            raise Broken(f"not {status}: {got!r}")
    with Server(world, "--max-connections", 5) as s:
        lines = connect(5, "127.0.0.1", s.port)
        is_turned_away(connect(1, "127.0.0.1", s.port)[0], 503)
        world.same(len(kept(lines)), 5)
        for line in lines:
            line.close()
        world.until(lambda: s.ask("GET", "/server").status == 200, "there is room again")
        world.same(s.ask("GET", "/server").json.limits.connections, 5)
    other = outer_address()
    with Server(world, "--auth", "--max-connections-each", 3, listen="0.0.0.0:0") as s:
        world.same(len(kept(connect(8, "127.0.0.1", s.port))), 8, "connections of this machine, as of a proxy")
        if other:
            lines = connect(3, other, s.port)
            is_turned_away(connect(1, other, s.port)[0], 429)
            world.same(len(kept(lines)), 3)


def runs_that_are_too_many(world):
    """--max-runs: more runs than that are not started until one has settled; what waits does not count and is resumed"""
    slow = "name: slow\nnodes:\n  - {name: a, shell: 'until [ -e go ]; do sleep 0.05; done'}\n"
    with Server(world, "--max-runs", 2) as s:
        for i in range(3):
            s.begin(f"ask-{i}", ASK)
            s.until(f"ask-{i}", "interrupted")
        s.begin("a", slow)
        s.begin("b", slow)
        body = {"definition": flow_of(slow), "thread": "c"}
        refused = s.ask("POST", "/runs", body).gives(429).has(code="too_many").says("2 runs are under way")
        world.same(refused.headers["retry-after"], "1")
        s.ask("POST", "/test_runs/schedule_debug", body).gives(429)
        with s.talk() as talk:
            world.same(talk.refuse("run_start", body).data.status, 429, "over a WebSocket")
        s.ask("POST", "/runs/ask-0/resume", {"decision": "go"}).gives(200)
        s.until("ask-0", "completed")
        s.ask("POST", "/runs/a/cancel", {}).gives(200)
        s.until("a", "cancelled")
        world.until(lambda: s.ask("POST", "/runs", body).status == 201, "there is room again")
        s.ask("POST", "/runs", {"definition": flow_of(slow), "thread": "d"}).gives(429)
        world.write("go", "")
        s.until("b", "completed")
        s.until("c", "completed")
        world.same(s.ask("GET", "/server").json.limits.runs, 2)
        for i in range(20):
            world.until(lambda i=i: s.ask("POST", "/runs", {"definition": flow_of(SHORT), "thread": f"n{i}"}).status == 201,
                        f"run {i} is started")


def bodies_that_are_no_json(world):
    """what RFC 8259 does not have is refused with its place, and not read as something else"""
    with Server(world) as s, s.talk() as talk:
        for text in (b'{"a":NaN,"b":Infinity}', b'"\xff\xfe"', b"01", b".5", b"1.", b"+1", b"-", b'"\\ud800"', b"nan"):
            body = b'{"definition":{"main":"a.yaml","files":{"a.yaml":"nodes: [{name: a, jq: .}]"}},"input":{"x":' + text + b"}}"
            refused = s.ask("POST", "/runs", body).gives(400).has(code="syntax", field="body", line=1)
            if not len(body) - len(text) - 2 < refused.json.column <= len(body):
                raise Broken(f"the place of {text}: {refused}")
            if b"\xff" not in text:  # that is no message at all
                talk.frame(talk.TEXT, b'{"type":"runs","data":{"limit":' + text + b"}}")
                world.same(talk.message().data.code, "syntax", f"the answer to {text}")
        world.same(s.ask("GET", "/runs").json.runs, [])


def two_readings(world):
    """requests that two servers could read in two ways are refused, and the connection is closed"""
    with Server(world) as s:
        smuggled = b"GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n\r\n"
        head = b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for name, rest in {
                "both lengths": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "two lengths": b"Content-Length: 0\r\nContent-Length: 50\r\n\r\n",
                "the same length twice": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
                "a list of lengths": b"Content-Length: 0, 50\r\n\r\n",
                "a length with a sign": b"Content-Length: +2\r\n\r\n{}",
                "a length in hex": b"Content-Length: 0x2\r\n\r\n{}",
                "a coding that is none": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                "two codings": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
                "a coding twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "a bad chunk": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
                "a chunk with a sign": b"Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
                "a chunk that is too large": b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n{}\r\n0\r\n\r\n",
                "a chunk without its end": b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
                "a space before the colon": b"Content-Length : 2\r\n\r\n{}",
                "a folded line": b"X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
                "a bare line feed": b"X: a\nContent-Length: 2\r\n\r\n{}",
                "a NUL": b"X: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
                "two hosts": b"Host: other\r\nContent-Length: 2\r\n\r\n{}",
        }.items():
            got = s.raw(head + rest + smuggled)
            status = got.split(b" ")[1] if got else b""
            if status not in (b"400", b"501") or got.count(b"HTTP/1.1 ") != 1:
                raise Broken(f"{name}: {got[:600]!r}")
        got = s.raw(b"GET /api/v1/runs HTTP/1.1\r\nConnection: close\r\n\r\n")
        world.same(got.split(b" ")[1], b"400", "no Host")


def whoever_leaves_at_once(world):
    """askers that go before they are answered leave nothing behind"""
    with Server(world, "--rate", 100000) as s:
        s.begin("t", ASK)
        targets = ["/readyz", "/healthz", "/api/v1/runs", "/api/v1/runs/t/history", "/api/v1/runs/t/events",
                   "/api/v1/debug/t/events", "/api/v1/debug/t/frames", "/api/v1/openapi.json", "/api/v1/events"]
        for i in range(180):
            with socket.create_connection(("127.0.0.1", s.port)) as line:
                line.sendall(f"GET {targets[i % len(targets)]} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                if i % 2:
                    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        body = json.dumps({"definition": flow_of(SHORT)}).encode()
        for i in range(20):
            with socket.create_connection(("127.0.0.1", s.port)) as line:
                line.sendall(b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                             + f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:len(body) - i % 2])
        s.ask("GET", "/readyz", root="").gives(200)
        world.until(lambda: s.ask("GET", "/server").json.load.streams == 0, "no stream is left")


def readiness_for_many(world):
    """/readyz, which anybody may ask, answers all who ask at once, whoever of them leaves, and again when a second has passed"""
    ask = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with Server(world) as s:
        for _ in range(3):
            lines = [socket.create_connection(("127.0.0.1", s.port), timeout=PATIENCE) for _ in range(60)]
            for line in lines:
                line.sendall(ask)
            for line in lines[::3]:
                line.close()
            for i, line in enumerate(lines):
                if i % 3:
                    got = b""
                    while piece := line.recv(65536):
                        got += piece
                    if b'{"status":"ready"}' not in got:
                        raise Broken(f"not ready: {got!r}")
                    line.close()
            time.sleep(0.6)
        world.same(s.ask("GET", "/server").json.load.connections, 1)


def metrics_of_queues(world):
    """/metrics names each reading once, with its type, and says what is queued"""
    with Server(world) as s:
        s.begin("slow", "name: slow\nnodes:\n  - {name: a, shell: 'until [ -e go ]; do sleep 0.05; done'}\n")

        def read():
            text = s.ask("GET", "/metrics", root="").gives(200).body.decode()
            lines = [line.split(" ") for line in text.splitlines() if not line.startswith("#")]
            for name, _ in lines:
                if text.count(f"# TYPE {name.split('{')[0]} ") != 1:
                    raise Broken(f"{name} has not one type: {text}")
            return {name: float(value) for name, value in lines}
        world.until(lambda: read()["pawl_steps_working"] == 1, "the step is counted")
        world.write("go", "")
        s.until("slow", "completed")
        for name in ("runs_waiting_for_turn", "steps_waiting_to_start", "steps_working", "commits_waiting", "events_waiting",
                     "store_jobs", "http_bytes_waiting"):
            world.until(lambda name=name: read()[f"pawl_{name}"] == 0, f"nothing is left of {name}")


def secrets_stay_hidden(world):
    """the value of a secret is in no answer, event or log"""
    world("secret", "set", "KEY", stdin=HIDDEN).gives(0)
    flow = ("name: hush\nnodes:\n"
            "  - {name: a, shell: 'echo \"the key is $KEY\"', env: {KEY: $secrets.KEY}, output: said}\n"
            "  - {name: b, jq: '{b: .said}'}\n")
    with Server(world, "--log-level", "debug") as s:
        started = s.ask("POST", "/runs", {"definition": flow_of(flow), "thread": "t", "debug": {"pause_on_start": True}})
        if started.status != 201:
            raise Broken(f"the workflow with a secret: {started}")
        s.paused("t")
        stream = s.events("/runs/t/events?from=0&values=true")
        texts = [s.ask("POST", "/debug/t/step", {"kind": "over"}).body]
        s.paused("t")
        for path in ("/debug/t", "/debug/t/config", "/debug/t/variables", "/debug/t/export", "/debug/t/history?all=true",
                     "/secrets", "/runs/t?state", "/runs/t/logs", "/runs/t/history?values=true", "/runs/t/state",
                     "/debug/t/search?text=s3cr3t", "/debug/t/node", "/debug/t/diff?since=start"):
            texts.append(s.ask("GET", path).body)
        for jq in (".", "env", "$ENV", ".said", '"s3cr3t-" + "va1ue-of-a-secret"'):
            reply = s.ask("POST", "/debug/t/evaluate", {"expression": jq})
            if not jq.startswith('"'):
                texts.append(reply.body)
        s.ask("POST", "/debug/t/continue", {}).gives(200)
        s.until("t", "completed")
        for event in stream:
            texts.append(json.dumps(event.data).encode())
            if event.name == "run.completed":
                break
        texts.append(s.said.encode())
        if not any(b"the key is" in t for t in texts):
            raise Broken("what the node printed is nowhere, so nothing was shown")
        for text in texts:
            if HIDDEN.encode() in text:
                raise Broken(f"the secret is told: {text[:1000]!r}")


def history(s, thread):
    """Who asked for what, by the history of a run."""
    return [[c.status, c.by] for c in s.ask("GET", f"/runs/{thread}/history").gives(200).json.checkpoints if c.by]


def who_did_what(world):
    """the name of the token is in the history of a run with what it asked for, and in the versions of a workflow"""
    ann, bob = token(world, "ann", "admin"), token(world, "bob", "run")
    with Server(world, "--auth", token=ann) as s:
        s.ask("PUT", "/workflows/ask", {"text": ASK}).gives(200)
        world.same([v.by for v in s.ask("GET", "/workflows/ask").json.versions], ["ann"])
        s.ask("POST", "/runs", {"workflow": "ask", "thread": "t"}, token=bob).gives(201)
        s.until("t", "interrupted")
        s.ask("POST", "/runs/t/state", {"set": [[["n"], 1]]}).gives(200)
        s.ask("POST", "/runs/t/fork", {"new_thread": "f"}, token=bob).gives(200)
        s.ask("POST", "/runs/f/cancel", {}).gives(200)
        s.ask("POST", "/runs/t/resume", {"decision": "go"}, token=bob).gives(200)
        s.until("t", "completed")
        s.ask("POST", "/runs/t/replay", {"new_thread": "r"}).gives(200)
        s.until("r", "completed")
        world.same(history(s, "t"), [["started", "bob"], ["updated", "ann"], ["completed", "bob"]])
        world.same(history(s, "f"), [["forked", "bob"], ["cancelled", "ann"]])
        world.same(history(s, "r")[0], ["started", "ann"])
        with s.talk() as talk:
            talk.call("run_start", {"workflow": "ask", "thread": "w"})
            s.until("w", "interrupted")
            talk.call("run_update", {"thread": "w", "set": [[["n"], 1]]})
        world.same(history(s, "w"), [["started", "ann"], ["updated", "ann"]])
        for i in range(20):  # whoever goes at once is known all the same
            with s.talk() as talk:
                talk.say("workflow_put", {"name": "gone", "text": ASK})
                talk.say("run_replay", {"thread": "t", "new_thread": f"gone{i}"})
        world.until(lambda: s.ask("GET", "/workflows/gone").status == 200, "what they asked for is done")
        world.same({v.by for v in s.ask("GET", "/workflows/gone").json.versions}, {"ann"})
    shown = world("history", "t").gives(0).out
    if "completed by bob" not in shown or "updated by ann" not in shown:
        raise Broken(f"the history does not say who: {shown}")
    document = world("history", "t", "--json").gives(0).json
    world.same([c.get("by") for c in document if c["status"] == "updated"], ["ann"])


def who_changed_a_run_under_way(world):
    """what is done in a debug session has the name of the token too, as has what another process does for the server"""
    ann, bob = token(world, "ann", "debug"), token(world, "bob", "admin")
    with Server(world, "--auth", token=bob) as s:
        s.ask("POST", "/runs", {"definition": flow_of(SHORT), "thread": "d", "debug": {"pause_on_start": True}}).gives(201)
        s.paused("d")
        s.ask("POST", "/debug/d/variables", {"path": ["x"], "value": 1}, token=ann).gives(200)
        s.ask("POST", "/debug/d/continue", {}, token=ann).gives(200)
        s.until("d", "completed")
        said = history(s, "d")
        world.same(said[0], ["started", "bob"])
        if ["resumed", "ann"] not in said or [None, "ann"] == said[-1]:
            raise Broken(f"who continued is not said: {said}")
        if [entry for entry in said if entry[0] == "completed"]:
            raise Broken(f"what a node did is said to be asked for: {said}")
        world.write("slow.yaml", "name: slow\nnodes:\n  - {name: a, shell: 'sleep 600'}\n")
        other = world.start("run", "slow.yaml", "--thread", "o")
        world.until(lambda: s.ask("GET", "/runs/o").status == 200 and s.run("o").owner, "another process has it")
        s.ask("POST", "/runs/o/cancel", {}).gives(200)
        other.communicate()
        world.same(history(s, "o"), [["cancelled", "bob"]])


MARKS = """name: marks
nodes:
  - name: mark
    python: |
      import sys
      seen = list(getattr(sys, "seen", []))
      sys.seen = seen + [state["who"]]
      return {"seen": seen}
  - {name: ask, approval: {prompt: Go?, options: [go]}}
  - name: again
    python: |
      import sys
      return {"later": list(getattr(sys, "seen", []))}
"""


def workers_of_others(world):
    """runs that were started with different tokens share no interpreter, not after a resume and a restart either"""
    admin, ann, bob = (token(world, name, scope) for name, scope in
                       (("admin", "admin"), ("ann", "run"), ("bob", "run")))

    def start(s, thread, who):
        body = {"workflow": "marks", "thread": thread, "input": {"who": thread}}
        s.ask("POST", "/runs", body, token=who).gives(201)
        s.until(thread, "interrupted")
        return s.ask("GET", f"/runs/{thread}/state", token=who).json.state["seen"]

    def resume(s, thread, who):
        s.ask("POST", f"/runs/{thread}/resume", {"decision": "go"}, token=who).gives(200)
        s.until(thread, "completed")
        return s.ask("GET", f"/runs/{thread}/state", token=who).json.state["later"]

    with Server(world, "--auth", token=admin, env={"PAWL_WORKERS": "1"}) as s:
        s.ask("PUT", "/workflows/marks", {"text": MARKS}).gives(200)
        world.same(start(s, "a1", ann), [], "what ann's first run finds")
        world.same(start(s, "a2", ann), ["a1"], "what her next finds")
        world.same(start(s, "b1", bob), [], "what bob's finds")
        s.ask("POST", "/runs/a2/fork", {"new_thread": "b2"}, token=bob).gives(200)
        world.same(start(s, "a3", ann), [], "what ann's finds after bob's")
        world.same(resume(s, "b2", bob), [], "what bob's fork of hers finds")
        world.same(start(s, "a4", ann), [], "what ann's finds after it")
        world.same(resume(s, "a1", bob), ["a4"], "what hers finds when bob resumes it")
        s.ask("POST", "/runs/a3/replay", {"new_thread": "b3"}, token=bob).gives(200)
        s.until("b3", "interrupted")
        world.same(resume(s, "b1", bob), [], "what bob's finds after his replay")
        s.stop()
        s.start()
        world.same(start(s, "a5", ann), [], "what ann's finds after a restart")
        world.same(resume(s, "b3", ann), [], "what bob's finds after that, though she resumes it")
        world.same(resume(s, "a2", ann), [], "what hers finds after his")
        world.same(start(s, "a6", ann), [], "what her next finds")
        world.same(resume(s, "a3", ann), ["a6"], "what an older one finds then")
    world("resume", "a4", "--decision", "go", "-q").gives(0)
    body = {"workflow": "marks", "input": {"who": "c"}}
    with Server(world) as s:
        for thread, found in (("c1", []), ("c2", ["c"])):
            s.ask("POST", "/runs", {**body, "thread": thread}).gives(201)
            s.until(thread, "interrupted")
            world.same(s.ask("GET", f"/runs/{thread}/state").json.state["seen"], found, "without tokens")


CASES = [from_another_site, looking_from_another_site, only_with_a_token, tokens_in_no_log, scopes_of_every_row, scopes_over_a_websocket, names_of_keys, signing_in, names_of_the_server, at_other_addresses,
         tokens_that_root_makes, certificates_that_are_renewed, sockets_that_are_handed_over,
         names_that_lead_elsewhere, lines_that_end_early, bodies_that_are_too_much, bodies_that_are_no_json, askers_that_take_turns, connections_that_are_too_many, runs_that_are_too_many, two_readings, whoever_leaves_at_once,
         readiness_for_many, metrics_of_queues, secrets_stay_hidden, who_did_what, who_changed_a_run_under_way, workers_of_others]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
