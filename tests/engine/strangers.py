#!/usr/bin/env python3
"""What another user of the machine, and a page in a browser, come to. Prints TAP.

    tests/engine/strangers.py PAWL

The cases in which another user acts need one to become: they are skipped, and say so, where that is impossible.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import DONE, PATIENCE, Broken, Skipped, run_all  # noqa: E402

NOBODY = 65534


def as_another_user(act):
    """What act(), done by another user in a process of its own, gives as bytes."""
    if os.geteuid() != 0:
        raise Skipped("no other user can be become here")
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(theirs, act()[:60000])
            code = 0
        except BaseException:  # pylint: disable=broad-except
            os.write(theirs, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read()
    if os.waitpid(child, 0)[1]:
        raise Broken(f"the process of another user has failed: {said.decode()}")
    return said


def reusing():
    made = socket.socket()
    made.settimeout(PATIENCE)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made


def read_to_end(line):
    heard = b""
    with contextlib.suppress(ConnectionError):
        while part := line.recv(65536):
            heard += part
    return heard


def connect(how, port, data):
    """Sends that to the adapter at once; from the address of a socket of its own that was closed (TIME_WAIT), which the kernel lists
    as root's; or is gone before anybody can look, for the kernel the same."""
    heard = b""
    for _ in range(1 if how == "plain" else 20):
        with reusing() as line:
            if how == "closed":
                with socket.create_server(("127.0.0.1", 0)) as own, reusing() as before:
                    before.bind(("127.0.0.1", 0))  # a port that no connection of others has
                    before.connect(own.getsockname())
                    end, place = own.accept()
                    before.close()
                    read_to_end(end)
                    end.close()
                line.bind(place)
            line.connect(("127.0.0.1", port))
            with contextlib.suppress(ConnectionError):
                line.sendall(data)
                if how != "gone":
                    heard += line.recv(65536)
        if heard:
            break
    return heard


def message(seq, command, **arguments):
    body = json.dumps({"seq": seq, "type": "request", "command": command, "arguments": arguments}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


@contextlib.contextmanager
def adapter(world):
    """`pawl dap` at a port, and the requests of an editor that has it run a command."""
    world.write("w.yaml", "nodes:\n  - {name: a, shell: 'id -u > ran'}\n")
    program = str(world.folder / "w.yaml")
    world.write("requests", (message(1, "initialize", adapterID="x") + message(2, "launch", program=program, noDebug=True) +
                             message(3, "configurationDone")).decode())
    process = subprocess.Popen([world.pawl, "dap", "--listen", "127.0.0.1:0", "--store", "file:db"], cwd=world.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline().rsplit(":", 1)[1])
    finally:
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE)
    if process.returncode or said:
        raise Broken(f"the adapter ended with {process.returncode}: {said}")


def nothing_ran(world):
    world.same((world.read("ran"), (world.folder / "db").exists()), ("", False), "what ran, and whether there is a store")


def adapter_of_another_user(world):
    """another user is not answered at the adapter's port: not from an address where root seems to be, and not when it goes at once"""
    for how in ("plain", "closed", "gone"):
        with adapter(world) as port:
            requests = (world.folder / "requests").read_bytes()
            world.same(as_another_user(lambda: connect(how, port, requests)), b"", f"what was answered ({how})")
        nothing_ran(world)


def adapter_of_our_user(world):
    """we are answered, also when we have said all that we have to say"""
    with adapter(world) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
            line.sendall((world.folder / "requests").read_bytes())
            heard = b""
            while b'"terminated"' not in heard and (part := line.recv(65536)):
                heard += part
            line.sendall(message(4, "disconnect"))
            line.shutdown(socket.SHUT_WR)
            heard += read_to_end(line)
    for word in (b'"initialize"', b'"launch"', b'"configurationDone"', b'"terminated"', b'"disconnect"'):
        if word not in heard:
            raise Broken(f"{word} is missing: {heard}")
    world.same(world.read("ran"), f"{os.geteuid()}\n", "what ran")


def adapter_that_a_page_asks(world):
    """a request of a browser, whatever is in it, ends the connection before anything of it is done"""
    with adapter(world) as port:
        requests = (world.folder / "requests").read_bytes()
        for head in (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(requests),
                     b"POST / HTTP/1.1\r\n", b"GET /?Content-Length: 0\r\n\r\n", b"Content-Type: GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", b"\0\x03\0\x54!\x12\xa4B\n", b"\r\n", b"\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
                line.sendall(head + requests)
                heard = read_to_end(line)
            if b'"response"' in heard:
                raise Broken(f"{head[:40]} is answered: {heard}")
    nothing_ran(world)


CASES = [
    adapter_of_another_user,
    adapter_of_our_user,
    adapter_that_a_page_asks,
]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
