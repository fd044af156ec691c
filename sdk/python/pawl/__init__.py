"""Nodes of Pawl workflows, written in Python.

    from pawl import interrupt, log, node, serve

    @node
    def analyze(state):
        log("looking at", len(state["files"]), "files")
        return {"analysis": len(state["files"])}

    @node("approve")
    def ask(state, env):
        return {"decision": interrupt({"question": "Ship " + env["target"] + "?"})}

    serve()

A workflow names the program and the function::

    - {name: analyze, python: {file: nodes.py, function: analyze}}

pawl starts the program when a node needs it, keeps it, and calls its functions as often as the
workflow asks for them. What a function prints is the log of the node; what it returns is merged into
the state.

This module is in pawl itself, so that a program that pawl starts needs nothing installed. Installed,
it is for editors and for tests of such programs: the functions stay ordinary functions.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable, Dict, List, Optional, Union, overload

__all__ = ["interrupt", "log", "node", "serve"]
__version__ = "0.1.0"

Json = Union[None, bool, int, float, str, List[Any], Dict[str, Any]]
NodeFunction = Callable[..., Any]

_nodes: Dict[str, "_Node"] = {}
_worker: Optional["_Worker"] = None


# ---- for programs ----


@overload
def node(name: NodeFunction) -> NodeFunction: ...


@overload
def node(name: Optional[str] = None) -> Callable[[NodeFunction], NodeFunction]: ...


def node(name=None):
    """Makes a function callable from a workflow: under its own name, or another with @node("name").

    The function takes the state, a dictionary, and `env` too if it has a second parameter. It
    returns the update, or None when nothing changes. It may be async.
    """
    if callable(name):
        return _register(name, name.__name__)
    return lambda function: _register(function, name or function.__name__)


def interrupt(value: Json = None) -> Json:
    """Asks a person: the run stops with the value as its prompt, and this returns the answer.

    The answer may come days later and to another process, when this one is gone. The node then runs
    from its start again, and every interrupt that was answered before returns its answer at once.
    So whatever must not happen twice belongs after the last one.
    """
    if _worker is None or _worker.call is None:
        raise RuntimeError("interrupt() can be called only while a node runs in a workflow.")
    return _worker.call.interrupt(value)


def log(*values: Any) -> None:
    """Writes a line to the node's log, apart from what is printed."""
    if _worker is None or _worker.call is None:
        print(_line_of(values), end="", file=sys.stderr)
    else:
        _worker.call.log(*values)


def serve() -> None:
    """Answers calls until pawl is done with this program. The last line of it."""
    if _worker is None:
        raise SystemExit(
            "This program has nodes for a workflow and is started by pawl: name it in the workflow "
            "(python: {file: ..., function: ...}) and use `pawl run`."
        )
    _worker.serve()


def _line_of(values):
    return " ".join(value if isinstance(value, str) else repr(value) for value in values) + "\n"


# ---- functions ----


class _Node:
    """A function and whether it takes `env`."""

    def __init__(self, function):
        self.function = function
        self.takes_env = _positional(function) > 1

    def __call__(self, state, env):
        return self.function(state, env) if self.takes_env else self.function(state)


def _positional(function):
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return 2
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _register(function, name):
    _nodes[name] = _Node(function)
    return function


# ---- code of nodes ----


class _Code:
    """The body of a function, compiled once. Each call has globals of its own."""

    def __init__(self, source, label):
        self.label = label
        self.compiled = _compile_either(source, label)
        _show_lines(source, label)

    def __call__(self, call, env, names):
        import types

        given = {"interrupt": call.interrupt, "log": call.log}
        names = {**_visible, **given, **names}
        return types.FunctionType(self.compiled, names)(call.message["state"], env)


def _compile_either(source, label):
    try:
        return _compile(source, label, "def")
    except SyntaxError:
        if "await" in source or "async" in source:
            return _compile(source, label, "async def")
        raise


def _compile(source, label, word):
    """The statements go into the function as they were parsed, so that lines and texts stay."""
    import ast

    body = ast.parse(source, label).body
    module = ast.parse(word + " node(state, env): pass", label)
    if body:
        module.body[0].body = body
    names = {}
    exec(compile(module, label, "exec"), names)  # pylint: disable=exec-used
    return names["node"].__code__


def _show_lines(source, label):
    import linecache

    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[label] = (len(source), None, lines, label)


_visible = {"__builtins__": __builtins__, "__name__": "node"}


# ---- the conversation with pawl: a line of JSON each way ----


_decode = json.loads  # ours, whatever the code of a node does to the module
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_READ_FIRST = 1 << 16
_READ_MORE = 1 << 20
_TEXT_MAX = 16384  # characters of a message and of a traceback


class _Channel:
    def __init__(self, fd, rest):
        self.fd, self.rest, self.pid = fd, rest, os.getpid()
        os.set_inheritable(fd, False)

    def read(self):
        """The next line; the process ends when there are no more."""
        line, found, self.rest = self.rest.partition(b"\n")
        parts, size = [line], _READ_FIRST
        while not found:
            chunk = os.read(self.fd, size)
            if not chunk:
                os._exit(0)
            line, found, self.rest = chunk.partition(b"\n")
            parts.append(line)
            size = _READ_MORE
        return b"".join(parts)

    def write(self, text):
        if os.getpid() != self.pid:
            os._exit(0)  # a fork of us that went on after the node's code
        _flush()
        data = memoryview(text.encode("utf-8", "surrogatepass") + b"\n")
        while data:
            data = data[os.write(self.fd, data) :]


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


class _Call:
    """One call of a node, and what its code may ask for meanwhile."""

    def __init__(self, channel, message):
        self.channel, self.message = channel, message
        self.token = message["call"]
        self.answers = message.get("answers") or []
        self.next = 0

    def say(self, message):
        if self.channel is None:
            raise RuntimeError("The node that this code belongs to has ended.")
        self.channel.write(_encode({"call": self.token, **message}))

    def log(self, *values):
        self.say({"log": _line_of(values)})

    def interrupt(self, value):
        if self.next == len(self.answers):
            self.say({"interrupt": value})
            self.answers.append(_decode(self.channel.read())["answer"])
        self.next += 1
        return self.answers[self.next - 1]


def _enter_trace(env):
    """Libraries look for the trace of a call where processes have it."""
    for name in ("TRACEPARENT", "TRACESTATE"):
        if isinstance(env.get(name), str):
            os.environ[name] = env[name]
        elif "TRACEPARENT" in env:
            os.environ.pop(name, None)


class _Worker:
    def __init__(self, channel, file):
        self.channel, self.file = channel, file
        self.call = None
        self.codes = {}
        self.broken = None  # why the program could not be loaded

    def serve(self):
        while True:
            self.answer(self.channel.read())

    def answer(self, line):
        """Whatever goes wrong is a reply too. It goes out before the state is freed: that takes time."""
        token = line[9 : line.index(b'"', 9)].decode()  # {"call":"TOKEN",
        label = self.file
        try:
            if self.broken is not None:
                raise self.broken
            message = _decode(line)
            del line
            label = "<code %d>" % message["code"] if "code" in message else label
            self.call = _Call(self.channel, message)
            os.chdir(message["folder"])
            _enter_trace(message.get("env") or {})
            result = _settled(self.run(message, label))
            reply = '{"call":"%s","result":%s}' % (token, _encode(result))
        except BaseException as error:  # pylint: disable=broad-except
            self.end()
            message = result = None  # there may be little memory left
            reply = self.failure(token, error, label)
        self.end()
        self.channel.write(reply)

    def end(self):
        """Threads that the call left behind have nothing to say any more."""
        call, self.call = self.call, None
        if call is not None:
            call.channel = None

    def run(self, message, label):
        if "function" in message:
            return self.find(message["function"])(message["state"], message.get("env") or {})
        if "source" in message:
            self.codes.pop(label, None)
            self.codes[label] = _Code(message["source"], label)
        code = self.codes[label]
        return code(self.call, message.get("env") or {}, message.get("vars") or {})

    @staticmethod
    def find(name):
        if name in _nodes:
            return _nodes[name]
        known = ", ".join(sorted(_nodes)) or "none"
        raise LookupError("The program has no @node function `%s`; it has: %s." % (name, known))

    def failure(self, token, error, label):
        described = _describe(error, label)
        if self.broken is not None:
            described["retire"] = True
        return '{"call":"%s","error":%s}' % (token, _encode(described))


def _settled(result):
    """Of an async function: what it comes to."""
    if not hasattr(result, "__await__"):
        return result
    import asyncio

    async def wait():
        return await result

    return asyncio.run(wait())


# ---- errors ----


def _describe(error, label, ours=()):
    """ours: files whose frames, where the traceback begins with them, say nothing."""
    described = {"type": _text(lambda: type(error).__name__), "message": _text(_message, error)}
    if isinstance(error, MemoryError):
        described.update(limit=True, retire=True)
        return described
    error.__traceback__ = _without_us(error.__traceback__, (_FILE, *ours))
    line = _line(error, label)
    if line:
        described["line"] = line
    described["traceback"] = _traceback(error)
    return described


def _message(error):
    return (error.msg or "") if isinstance(error, SyntaxError) else error


def _text(make, *values):
    """What it makes, as a text and nothing else, whatever the class of an exception does."""
    try:
        return str.__str__(str(make(*values)))[:_TEXT_MAX]
    except BaseException:  # pylint: disable=broad-except
        return ""


def _without_us(tb, files):
    while tb is not None and tb.tb_frame.f_code.co_filename in files:
        tb = tb.tb_next
    return tb


def _line(error, label):
    """The last line of the node's own code that is to blame."""
    if isinstance(error, SyntaxError) and error.filename == label:
        return error.lineno if type(error.lineno) is int and 0 < error.lineno < 1 << 31 else None
    line, tb = None, error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == label:
            line = tb.tb_lineno
        tb = tb.tb_next
    return line


def _traceback(error):
    import traceback

    try:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except BaseException:  # pylint: disable=broad-except
        return ""
    if len(text) <= _TEXT_MAX:
        return text
    return text[: _TEXT_MAX // 2] + "\n...\n" + text[-_TEXT_MAX // 2 :]


_FILE = _describe.__code__.co_filename


# ---- the start of a worker ----


def _start(fd, hello, rest):
    """Called by pawl in the process that it started. Does not return."""
    global _worker  # pylint: disable=global-statement
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(
            encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=False
        )
    _worker = _Worker(_Channel(fd, rest), hello.get("file"))
    if hello.get("home"):
        sys.path.append(hello["home"])  # the last: it hides no module that others rely on
    if _worker.file:
        try:
            _load(_worker.file)
        except BaseException as error:  # pylint: disable=broad-except
            _worker.broken = error
    _worker.serve()


def _load(path):
    import types

    program = types.ModuleType("__main__")
    program.__file__ = path
    sys.modules["__main__"] = program
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(path))
    with open(path, "rb") as file:
        source = file.read()
    exec(compile(source, path, "exec"), program.__dict__)  # pylint: disable=exec-used
