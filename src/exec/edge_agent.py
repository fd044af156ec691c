"""Code, conditions and templates of files of The Edge Agent, in a worker.

exec_script.c sends this text once to each worker, as the code of a node, and calls answer() with what
is to be done. Whatever goes wrong in it is an answer too: {"failed": {type, message, line, traceback}}.

Templates are Jinja (the package python3-jinja2), in its sandbox. Without it a text that is one
expression in braces, and a condition, are evaluated as Python; nothing else is a template then.
"""

import ast
import copy
import importlib
import json
import os
import re

import pawl

try:
    import jinja2
    import jinja2.sandbox
except ImportError:
    jinja2 = None

NO_JINJA = (
    "This is a template, and Jinja is not installed: install the package python3-jinja2 "
    "(jinja2 where pip installs packages). Plain expressions, {{ state.x }}, work without it."
)
CACHE_MAX = 500


class View(dict):
    """A dictionary whose keys are attributes, too: a key goes before a method, a missing one is None."""

    def __getattribute__(self, name):
        if name.startswith("__"):
            return super().__getattribute__(name)
        if dict.__contains__(self, name):
            return view(dict.__getitem__(self, name))
        if name in ("get", "items", "keys", "values", "copy", "pop", "update", "setdefault"):
            return super().__getattribute__(name)
        return None


class Result(dict):
    """What came of a branch: keys are attributes, too, and those of its state are found beside them."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def get(self, name, default=None):
        if name in self:
            return self[name]
        state = dict.get(self, "state")
        return state.get(name, default) if isinstance(state, dict) else default


def view(value):
    return View(value) if isinstance(value, dict) and not isinstance(value, View) else value


def names_of(state, given, more):
    names = {key: View(given.get(key) or {}) for key in ("variables", "settings", "data")}
    names.update(state=View(state), secrets=View(), env=View(os.environ), checkpoint=View())
    names.update((key, view(value)) for key, value in more.items())
    return names


# ---- Jinja ----

cache = {}


def make_environment():
    class Environment(jinja2.sandbox.SandboxedEnvironment):
        """A key of a dictionary goes before a method of it."""

        def getattr(self, obj, attribute):
            if isinstance(obj, dict) and attribute in obj:
                return obj[attribute]
            if isinstance(obj, dict) and attribute[:1] == "_" and attribute[:2] != "__":
                return self.undefined(obj=obj, name=attribute)
            return super().getattr(obj, attribute)

    def tojson(value, indent=None):
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment = Environment(undefined=jinja2.ChainableUndefined, keep_trailing_newline=True)
    environment.filters.update(tojson=tojson, fromjson=json.loads)
    return environment


def compiled(kind, text):
    """A template or an expression, compiled once."""
    if "environment" not in cache:
        cache["environment"] = make_environment()
    key = (kind, text)
    if key not in cache:
        if len(cache) > CACHE_MAX:
            cache.clear()
            cache["environment"] = make_environment()
        environment = cache["environment"]
        if kind == "template":
            cache[key] = environment.from_string(text)
        else:
            cache[key] = environment.compile_expression(text)
    return cache[key]


# ---- without it ----


FUNCTIONS = (abs, all, any, bool, float, int, len, list, max, min, range, round, sorted, str, sum)
WORDS = {"true": True, "false": False, "none": None, "null": None}


def plain_value(expression, names):
    """As Python; filters and tests of Jinja are none."""
    known = {**WORDS, **{function.__name__: function for function in FUNCTIONS}, **names}
    try:
        tree = ast.parse(expression.strip(), "<expression>", "eval")
    except SyntaxError:
        raise LookupError(NO_JINJA) from None
    for node in ast.walk(tree):
        own = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known
        if isinstance(node, ast.BitOr) or (own and not bound_in(tree, node.id)):
            raise LookupError(NO_JINJA)
    code = compile(tree, "<expression>", "eval")
    return eval(code, {"__builtins__": {}, **known})  # pylint: disable=eval-used


def bound_in(tree, name):
    """By a comprehension."""
    return any(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name for node in ast.walk(tree))


# ---- values ----


def expression_in(text):
    """Of a text that is one {{ expression }} and nothing else."""
    text = text.strip()
    inner = text[2:-2]
    single = text.startswith("{{") and text.endswith("}}") and "{{" not in inner
    return inner if single and "}}" not in inner and "{%" not in text else None


def bare(value):
    """Without views, which are only for who reads them."""
    return dict(value) if isinstance(value, View) else value


def value_of(expression, names):
    if not jinja2:
        return bare(plain_value(expression, names))
    return bare(compiled("expression", expression)(**names))


def render(text, names):
    expression = expression_in(text)
    if expression is not None:
        return value_of(expression, names)
    if "{{" in text or "{%" in text:
        if not jinja2:
            raise LookupError(NO_JINJA)
        text = compiled("template", text).render(**names)
    variables = names["variables"]
    return re.sub(
        r"\$\{([^}]+)\}",
        lambda m: str(variables[m[1]]) if m[1] in variables else m[0],
        text,
    )


def rendered(value, names):
    if isinstance(value, str):
        return render(value, names)
    if isinstance(value, dict):
        return {key: rendered(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [rendered(inner, names) for inner in value]
    return value


def holds(text, names):
    text = text.strip()
    if "{%" in text or ("{{" in text and expression_in(text) is None):
        return bool(render(text, names).strip())
    expression = expression_in(text)
    return bool(value_of(text if expression is None else expression, names))


def leads(text, names):
    """A rule of goto: what it comes to as text; an error is false."""
    try:
        text = text.strip()
        braces = text.startswith("{{") or text.startswith("{%")
        if jinja2:
            said = compiled("template", text if braces else "{{ %s }}" % text).render(**names)
        else:
            said = str(render(text, names) if braces else plain_value(text, names))
    except LookupError as error:
        if str(error) == NO_JINJA:
            raise
        return False
    except Exception:  # pylint: disable=broad-except
        return False
    return said.strip().lower() not in ("", "false", "0", "no", "none")


def items_of(value, names):
    items = rendered(value, names)
    if items is None:
        return []
    if isinstance(items, (str, bytes, dict)) or not hasattr(items, "__iter__"):
        raise TypeError("`items` is to give a list; it gives a value of type %s." % type(items).__name__)
    return list(items)


def count_of(value, names):
    try:
        count = int(rendered(value, names))
    except (TypeError, ValueError):
        return None
    return count if count > 0 else None


def outputs_of(value, names):
    outputs = {}
    for key, inner in value.items():
        made = rendered(inner, names) if isinstance(inner, str) else inner
        outputs[key] = "" if made is None else made
    return outputs


EVALUATIONS = {
    "value": rendered,
    "condition": holds,
    "condition_false": lambda what, names: not holds(what, names),
    "goto": leads,
    "items": items_of,
    "count": count_of,
    "outputs": outputs_of,
}


# ---- code ----


class Actions(dict):
    def __missing__(self, name):
        raise LookupError("The action `%s` cannot be called from code: give it a node of its own, with `uses`." % name)


def with_results(state):
    """What parallel branches came to, as objects that code can ask in both ways."""
    for key, value in state.items():
        if isinstance(value, list) and value and all(
            isinstance(one, dict) and "branch" in one and "success" in one for one in value
        ):
            state[key] = [Result(one) for one in value]
    return state


def changed(before, state):
    return {key: value for key, value in state.items() if key not in before or before[key] != value}


def run_code(label, state, request, own):
    before = copy.deepcopy(state)
    state = with_results(state)
    given = request["given"]
    source = render_code(request["what"], names_of(state, given, {}))
    names = {
        "__builtins__": __builtins__,
        "__name__": "node",
        "state": state,
        "json": json,
        "variables": View(given.get("variables") or {}),
        "actions": Actions(),
        "parallel_results": state.get("parallel_results"),
        **own,
    }
    for module in ("datetime", "requests"):
        if module in source:
            try:
                names[module] = importlib.import_module(module)
            except ImportError:
                pass
    if "return" in source:
        result = run_function(source, label, names)
    else:
        known = dict(names)
        exec(compile(source, label, "exec"), names)  # pylint: disable=exec-used
        made = {key: value for key, value in names.items() if key not in known or value is not known[key]}
        result = {key: value for key, value in made.items() if not key.startswith("_") and is_data(value)}
    if result is state or result is None:
        result = {}
    elif not isinstance(result, dict):
        result = {"result": result}
    return {**changed(before, state), **result}


def is_data(value):
    """A local variable that can be part of the state: a module or a function is none, nor is a list of them."""
    if not isinstance(value, (list, tuple, dict)):
        return isinstance(value, (type(None), bool, int, float, str))
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def render_code(source, names):
    if "{{" not in source and "{%" not in source:
        return source
    if not jinja2:
        raise LookupError(NO_JINJA)
    return compiled("template", source).render(**names)


def run_function(source, label, names):
    module = ast.parse("def node(): pass", label)
    module.body[0].body = ast.parse(source, label).body or module.body[0].body
    exec(compile(module, label, "exec"), names)  # pylint: disable=exec-used
    return names.pop("node")()


def run_expression(_label, state, request, _own):
    given = request["given"]
    text = request["what"]
    if "{{" in text or "{%" in text:
        text = render(text, names_of(state, given, {}))
        if not isinstance(text, str):
            return text
    return eval(text.strip(), {"state": state, "json": json})  # pylint: disable=eval-used


# ---- answers ----


def failure(error, label):
    described = pawl._describe(error, label, (__file__,))  # pylint: disable=protected-access
    message, name = described["message"], described["type"]
    if jinja2 and isinstance(error, jinja2.TemplateError):
        described["message"] = "The template cannot be rendered: " + (message or name)
    elif not message:
        described["message"] = "It raised %s without a message." % (name or "an exception without a name")
    return described


def answer(label, state, request, own):
    try:
        how = request["how"]
        if how == "code":
            value = run_code(label, state, request, own)
        elif how == "expression":
            value = run_expression(label, state, request, own)
        else:
            more = {"result": request["result"]} if "result" in request else {}
            value = EVALUATIONS[how](request["what"], names_of(state, request["given"], more))
        return {"value": value}
    except MemoryError:
        raise
    except Exception as error:  # pylint: disable=broad-except
        return {"failed": failure(error, label)}
