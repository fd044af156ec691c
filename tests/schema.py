"""The part of JSON Schema (2020-12) that openapi.json is written in, checked here with no code of ours or of others.

    wrong(document, schema, value)     what is wrong, "$.runs[0].run: ..."; None when the value is as the schema says
    example(document, schema, random)  a value that is as the schema says

A keyword that is not known here is an error: a check that passes over what it does not know checks nothing.
"""

import re

NOTES = {"description", "title", "$schema", "$defs"}
KINDS = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: not isinstance(v, bool) and (isinstance(v, int)
                                                      or isinstance(v, float) and v == int(v)),
}


def follow(document, ref):
    value = document
    for part in ref.removeprefix("#/").split("/"):
        value = value[part]
    return value


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def wrong(document, schema, value, at="$"):
    if schema is True or schema == {}:
        return None
    if schema is False:
        return f"{at}: nothing may be here"
    for word, want in schema.items():
        if word in NOTES or word in ("properties", "additionalProperties", "required"):
            continue
        if word == "items" and "prefixItems" in schema:  # those after them
            value, whole = value[len(schema["prefixItems"]):] if isinstance(value, list) else value, value
            problem = check_items(document, want, value, at)
            value = whole
            if problem:
                return problem
            continue
        check = CHECKS.get(word)
        if not check:
            raise ValueError(f"the schema at {at} has `{word}`, which nothing here knows")
        if problem := check(document, want, value, at):
            return problem
    return wrong_object(document, schema, value, at) if isinstance(value, dict) else None


def wrong_object(document, schema, value, at):
    for name in schema.get("required", []):
        if name not in value:
            return f"{at}: `{name}` is missing"
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name not in known and rest is False:
            return f"{at}: `{name}` is not in the schema"
        if problem := wrong(document, known.get(name, rest), inner, f"{at}.{name}"):
            return problem
    return None


def check_type(_document, want, value, at):
    names = want if isinstance(want, list) else [want]
    return None if any(KINDS[n](value) for n in names) else f"{at}: {value!r:.80} is no {want}"


def check_ref(document, want, value, at):
    return wrong(document, follow(document, want), value, at)


def check_any(document, want, value, at):
    problems = [wrong(document, one, value, at) for one in want]
    return None if None in problems else " and ".join(map(str, problems))


def check_one(document, want, value, at):
    fit = sum(wrong(document, one, value, at) is None for one in want)
    return None if fit == 1 else f"{at}: fits {fit} of what it is to fit one of"


def check_items(document, want, value, at):
    problems = (wrong(document, want, v, f"{at}[{i}]") for i, v in enumerate(value)
                ) if isinstance(value, list) else ()
    return next((p for p in problems if p), None)


def check_prefix(document, want, value, at):
    return next((p for i, (s, v) in enumerate(zip(want, value))
                 if (p := wrong(document, s, v, f"{at}[{i}]"))), None) \
        if isinstance(value, list) else None


def holds(good, at, what):
    return None if good else f"{at}: {what}"


def number(value):
    return KINDS["number"](value)


CHECKS = {
    "type": check_type,
    "$ref": check_ref,
    "anyOf": check_any,
    "oneOf": check_one,
    "items": check_items,
    "prefixItems": check_prefix,
    "not": lambda d, w, v, at: holds(wrong(d, w, v) is not None, at, f"{v!r:.80} may not be here"),
    "enum": lambda d, w, v, at: holds(any(same(v, one) for one in w), at, f"{v!r:.80} is not in {w}"),
    "const": lambda d, w, v, at: holds(same(v, w), at, f"{v!r:.80} is not {w!r}"),
    "minimum": lambda d, w, v, at: holds(not number(v) or v >= w, at, f"{v!r} is less than {w}"),
    "maximum": lambda d, w, v, at: holds(not number(v) or v <= w, at, f"{v!r} is more than {w}"),
    "minItems": lambda d, w, v, at: holds(not isinstance(v, list) or len(v) >= w, at, "too few"),
    "maxItems": lambda d, w, v, at: holds(not isinstance(v, list) or len(v) <= w, at, "too many"),
    "pattern": lambda d, w, v, at: holds(not isinstance(v, str) or re.search(w, v), at,
                                         f"{v!r:.80} does not match {w}"),
    "format": lambda d, w, v, at: holds(w != "date-time" or not isinstance(v, str) or re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", v), at, f"{v!r:.80} is no time"),
}

WORDS = ["", "a", "b", "t", "all", "over", "now", ".", ".a", ".a[0].b", "a b", "\u00e9\u4e16", "1", "null",
         "2030-01-01T00:00:00Z", "x" * 300]


def example(document, schema, random, depth=0):
    schema = follow(document, schema["$ref"]) if "$ref" in schema else schema
    for word in ("anyOf", "oneOf"):
        if word in schema and "properties" not in schema:
            return example(document, random.choice(schema[word]), random, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    kind = schema.get("type")
    if kind is None:
        return random.choice([None, True, 0, 1.5, "text", [], {}, [1, {"a": None}], {"a": {"b": 1}}])
    if kind == "object":
        return example_object(document, schema, random, depth)
    if kind == "array":
        n = 0 if depth > 4 else random.randrange(3)
        return [example(document, schema.get("items", {}), random, depth + 1) for _ in range(n)]
    low, high = schema.get("minimum", 0), schema.get("maximum", 2**53)
    return {
        "integer": lambda: random.choice([low, low + 1, min(high, low + random.randrange(1000)), high]),
        "number": lambda: random.choice([low, min(high, low + 0.5)]),
        "boolean": lambda: random.random() < 0.5,
        "null": lambda: None,
        "string": lambda: random.choice(WORDS),
    }[kind]()


def example_object(document, schema, random, depth):
    chosen = random.choice(schema["oneOf"])["required"] if "oneOf" in schema else []
    one_of = {name for one in schema.get("oneOf", []) for name in one["required"]}
    out = {}
    for name, inner in schema.get("properties", {}).items():
        needed = name in schema.get("required", []) or name in chosen
        if needed or (name not in one_of and random.random() < 0.3 and depth < 4):
            out[name] = example(document, inner, random, depth + 1)
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict) and depth < 4:
        out[random.choice(WORDS)] = example(document, rest, random, depth + 1)
    return out
