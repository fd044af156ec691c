/* prelude.c - functions written in the language itself.
 *
 * A call to one of these is replaced by its body, arguments in place of the parameters: no call, no
 * closure. So a parameter may occur only once in a body (code would double otherwise), $parameters
 * are evaluated before it, and a function that needs to call itself does so through an inner def.
 */
#include "program.h"

static const Prelude rows[] = {
    /* selection */
    {"map", 1, "def map(f): [.[] | f];"},
    {"select", 1, "def select(f): if f then . else empty end;"},
    {"values", 0, "def values: select(. != null);"},
    {"nulls", 0, "def nulls: select(. == null);"},
    {"booleans", 0, "def booleans: select(type == \"boolean\");"},
    {"numbers", 0, "def numbers: select(type == \"number\");"},
    {"strings", 0, "def strings: select(type == \"string\");"},
    {"arrays", 0, "def arrays: select(type == \"array\");"},
    {"objects", 0, "def objects: select(type == \"object\");"},
    {"iterables", 0, "def iterables: select(type | . == \"array\" or . == \"object\");"},
    {"scalars", 0, "def scalars: select(type | . != \"array\" and . != \"object\");"},
    {"finites", 0, "def finites: select(isinfinite or isnan | not);"},
    {"normals", 0, "def normals: select(isnormal);"},
    {"isvalid", 1, "def isvalid(f): try (f | true) catch false;"},
    {"in", 1, "def in(o): . as $key | o | has($key);"},
    {"inside", 1, "def inside(o): . as $part | o | contains($part);"},

    /* generators */
    {"recurse", 0, "def recurse: def r: ., (.[]? | r); r;"},
    {"recurse", 1, "def recurse(f): def r: ., (f | r); r;"},
    {"recurse", 2, "def recurse(f; c): def r: ., (f | select(c) | r); r;"},
    {"repeat", 1, "def repeat(f): def r: f, r; r;"},
    {"while", 2, "def while(c; f): def r: if c then ., (f | r) else empty end; r;"},
    {"until", 2, "def until(c; f): def r: if c then . else f | r end; r;"},
    {"isempty", 1, "def isempty(g): first((g | false), true);"},
    {"any", 1, "def any(f): any(.[]; f);"},
    {"all", 1, "def all(f): all(.[]; f);"},
    {"any", 2, "def any(g; f): first((g | f | select(.) | true), false);"},
    {"all", 2, "def all(g; f): first((g | f | select(not) | false), true);"},
    {"first", 0, "def first: .[0];"},
    {"last", 0, "def last: .[-1];"},
    {"nth", 1, "def nth($n): .[$n];"},
    {"last", 1, "def last(g): reduce g as $x ([]; [$x]) | .[];"},
    {"nth", 2,
     "def nth($n; g): if $n < 0 then error(\"nth doesn't support negative indices\")"
     " else first(skip($n; g)) end;"},
    {"skip", 2,
     "def skip($n; g): if $n < 0 then error(\"skip doesn't support negative count\")"
     " else foreach g as $x ($n; . - 1; if . < 0 then $x else empty end) end;"},
    {"combinations", 0,
     "def combinations: def c: if length == 0 then [] else .[0][] as $x | [$x] + (.[1:] | c) end; c;"},
    {"combinations", 1, "def combinations(n): . as $set | [range(n) | $set] | combinations;"},

    /* arrays and objects */
    {"_strindices", 1, "def _strindices($s): _string_indices($s);"},
    {"add", 1, "def add(f): reduce f as $x (null; . + $x);"},
    {"sort_by", 1, "def sort_by(f): _sort_by(map([f]));"},
    {"group_by", 1, "def group_by(f): _group_by(map([f]));"},
    {"unique_by", 1, "def unique_by(f): _unique_by(map([f]));"},
    {"min_by", 1, "def min_by(f): _min_by(map([f]));"},
    {"max_by", 1, "def max_by(f): _max_by(map([f]));"},
    {"map_values", 1, "def map_values(f): .[] |= f;"},
    {"with_entries", 1, "def with_entries(f): to_entries | map(f) | from_entries;"},
    {"walk", 1,
     "def walk(f): def w: if type == \"object\" then map_values(w)"
     " elif type == \"array\" then map(w) else . end | f; w;"},

    /* paths */
    {"paths", 0, "def paths: path(..) | select(length > 0);"},
    {"paths", 1, "def paths(f): path(.. | select(f)) | select(length > 0);"},
    {"leaf_paths", 0, "def leaf_paths: paths(scalars);"},
    {"del", 1, "def del(f): delpaths([path(f)]);"},
    {"pick", 1,
     "def pick(f): . as $in | reduce path(f) as $p (null; setpath($p; $in | getpath($p)));"},

    /* streams */
    {"tostream", 0, "def tostream: _tostream[];"},
    {"fromstream", 1,
     "def fromstream(f): foreach f as $e ({};"
     " (if .done then {} else . end)"
     " | if $e | length == 2 then .value |= setpath($e[0]; $e[1]) | .done = ($e[0] == [])"
     " else .done = ($e[0] | length == 1) end;"
     " if .done then .value else empty end);"},
    {"truncate_stream", 1,
     "def truncate_stream(f): . as $depth | null | f | if .[0] | length > $depth"
     " then .[0] |= .[$depth:] else empty end;"},

    /* regular expressions; the pattern may come alone, with flags, or as [pattern, flags] */
    {"match", 2, "def match($re; $flags): _match_impl($re; $flags; false)[];"},
    {"match", 1, "def match($re): _regex_args($re) as [$r, $f] | _match_impl($r; $f; false)[];"},
    {"test", 2, "def test($re; $flags): _match_impl($re; $flags; true);"},
    {"test", 1, "def test($re): _regex_args($re) as [$r, $f] | _match_impl($r; $f; true);"},
    {"capture", 2, "def capture($re; $flags): match($re; $flags) | _captures;"},
    {"capture", 1, "def capture($re): match($re) | _captures;"},
    {"scan", 2,
     "def scan($re; $flags): match($re; \"g\" + $flags)"
     " | if .captures == [] then .string else [.captures[].string] end;"},
    {"scan", 1, "def scan($re): scan($re; null);"},
    {"splits", 2, "def splits($re; $flags): _split_at(_match_impl($re; \"g\" + $flags; false))[];"},
    {"splits", 1, "def splits($re): splits($re; null);"},
    {"split", 2, "def split($re; $flags): _split_at(_match_impl($re; \"g\" + $flags; false));"},
    {"sub", 3,
     "def sub($re; f; $flags): _match_impl($re; $flags; false) as $found"
     " | _substitute($found; [$found[] | [_captures | f]])[];"},
    {"sub", 2, "def sub($re; f): sub($re; f; \"\");"},
    {"gsub", 3, "def gsub($re; f; $flags): sub($re; f; $flags + \"g\");"},
    {"gsub", 2, "def gsub($re; f): sub($re; f; \"g\");"},

    /* dates */
    {"todate", 0, "def todate: strftime(\"%Y-%m-%dT%H:%M:%SZ\");"},
    {"fromdate", 0, "def fromdate: strptime(\"%Y-%m-%dT%H:%M:%SZ\") | mktime;"},
    {"date", 0, "def date: todate;"},
    {"todateiso8601", 0, "def todateiso8601: todate;"},
    {"fromdateiso8601", 0, "def fromdateiso8601: fromdate;"},
    {"dateadd", 2, "def dateadd(unit; $n): . + $n;"},
    {"datesub", 2, "def datesub(unit; $n): . - $n;"},

    /* as in SQL */
    {"INDEX", 2, "def INDEX(g; f): reduce g as $row ({}; .[$row | f | tostring] = $row);"},
    {"INDEX", 1, "def INDEX(f): INDEX(.[]; f);"},
    {"IN", 1, "def IN(g): . as $x | any(g; . == $x);"},
    {"IN", 2, "def IN(a; b): any(a == b; .);"},
    {"JOIN", 2, "def JOIN($index; f): [.[] | [., $index[f]]];"},
    {"JOIN", 3, "def JOIN($index; g; f): g | [., $index[f]];"},
    {"JOIN", 4, "def JOIN($index; g; f; j): g | [., $index[f]] | j;"},

    /* the rest */
    {"debug", 1, "def debug(m): (m | debug | empty), .;"},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

const Prelude *prelude_at(size_t i) {
    return i < ROW_COUNT ? &rows[i] : NULL;
}

const Prelude *prelude_find(const char *name, size_t len, int arity) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const Prelude *row = &rows[i];
        if (row->arity == arity && row->name[0] == name[0] && strlen(row->name) == len &&
            !memcmp(row->name, name, len)) {
            return row;
        }
    }
    return NULL;
}

/* ---- all functions of the language ---- */

static Json add_name(Json list, const char *name, int arity) {
    return name[0] == '_' ? list : json_array_push(list, json_string_fmt("%s/%d", name, arity));
}

Json jq_builtins(void) {
    Json list = json_array();
    const char *name;
    int arity;
    for (size_t i = 0; (name = form_name(i, &arity)); i++) list = add_name(list, name, arity);
    const Prelude *row;
    for (size_t i = 0; (row = prelude_at(i)); i++) list = add_name(list, row->name, row->arity);
    const JqNative *native;
    for (size_t i = 0; (native = native_at(i)); i++) {
        list = add_name(list, native->name, native->arity);
    }
    return list;
}
