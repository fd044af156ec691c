// The parts of the VS Code extension that need no VS Code. Prints TAP.
//
//   node --test-reporter=tap tests/editors/extension.test.js PAWL
'use strict';

const assert = require('node:assert/strict');
const {execFileSync} = require('node:child_process');
const {readFileSync, readdirSync} = require('node:fs');
const path = require('node:path');
const {test} = require('node:test');

const PAWL = path.resolve(process.argv[2]);
const ROOT = path.join(__dirname, '../..');
const of = name => require(path.join(ROOT, 'editors/vscode/src', name));
const {placeAt} = of('yaml');
const {workflowOf} = of('workflow');
const {aboutOf, keysOf, schemasAt, valuesOf} = of('schema');
const {pathAt} = of('paths');
const {layout} = of('layout');
const {lineage, looksOf, picture} = of('drawing');

const pawl = (...args) => execFileSync(PAWL, args, {encoding: 'utf8', cwd: ROOT});
const schemas = Object.fromEntries(['graph', 'tasks', 'pipeline'].map(name => [name, JSON.parse(pawl('schema', name))]));
const example = name => readFileSync(path.join(ROOT, 'examples', name), 'utf8');

/** Where | is in a text, and what is there. */
function at(marked) {
  const begin = marked.indexOf('|'), before = marked.slice(0, begin).split('\n');
  return placeAt(marked.slice(0, begin) + marked.slice(begin + 1), before.length - 1, before.at(-1).length);
}

/** The keys, or the values, that are offered at |. */
function offered(marked, dialect = 'graph') {
  const place = at(marked);
  if (!place) return [];
  const found = schemasAt(schemas[dialect], place.path, place.levels);
  return place.part === 'value' ? valuesOf(found)
    : keysOf(schemas[dialect], found).map(key => key.name).filter(name => !place.keys.has(name));
}

test('a cursor is at the path that its column says', () => {
  const where = marked => {
    const place = at(marked);
    return place && [place.path.join('.'), place.part, place.typed];
  };
  assert.deepEqual(where('|'), ['', 'key', '']);
  assert.deepEqual(where('na|'), ['', 'key', 'na']);
  assert.deepEqual(where('name: x\nnodes:\n  - name: a\n    jq: .\n  |'), ['nodes', 'key', '']);
  assert.deepEqual(where('name: x\nnodes:\n  - name: a\n    |'), ['nodes.0', 'key', '']);
  assert.deepEqual(where('name: x\nnodes:\n  - name: a\n  - |'), ['nodes.1', 'key', '']);
  assert.deepEqual(where('nodes:\n- name: a\n  retry:\n    ma|\n- name: b'), ['nodes.0.retry', 'key', 'ma']);
  assert.deepEqual(where('nodes:\n- name: a\n|'), ['', 'key', '']);
  assert.deepEqual(where('nodes:\n  - name: a\n    uses: j|'), ['nodes.0.uses', 'value', 'j']);
  assert.deepEqual(where('nodes:\n  - {name: a, |}'), ['nodes.0', 'key', '']);
  assert.deepEqual(where('edges:\n  - {from: a, to: [b, c|'), ['edges.0.to.1', 'value', 'c']);
  assert.deepEqual(where('edges: [{from: "x, y", wh|'), ['edges.0', 'key', 'wh']);
  assert.deepEqual(where('"quoted key": {a: |'), ['quoted key.a', 'value', '']);
  assert.deepEqual(where('a:\r\n  b: 1\r\n  |'), ['a', 'key', '']);
});

test('nothing is offered in comments and in block scalars', () => {
  assert.equal(at('nodes: # |'), null);
  assert.equal(at('# |'), null);
  assert.equal(at('nodes:\n  - shell: |-\n      a: 1\n      |'.replace('|-', '>')), null);
  assert.equal(at('a: >\n  text\n\n  more: |'), null);
  assert.deepEqual(at('a: >\n  text: 1\nb: |').path, ['b']);
});

test('what is half written is no error, whatever it is', () => {
  for (const dialect of ['workflows/release.yaml', 'playbooks/rolling-upgrade.yaml', 'pipelines/ci.yaml']) {
    const text = example(dialect);
    for (let end = 0; end < text.length; end += 7) {
      const lines = text.slice(0, end).split('\n');
      placeAt(text.slice(0, end), lines.length - 1, lines.at(-1).length);
      workflowOf(text.slice(0, end));
    }
  }
  for (const odd of ['- - - |', '{{{{|', ']]]|', '"|', "'a: |", '- {a: [|', '\t|', ': |', '? |', '&a |', '- -|', 'a: {"|']) at(odd);
});

test('keys are those of the schema, without those that are there', () => {
  assert.deepEqual(offered('|').slice(0, 3), ['name', 'description', 'config']);
  const keys = offered('nodes:\n  - name: a\n    |');
  assert.ok(keys.includes('jq') && keys.includes('retry') && keys.includes('output'));
  assert.ok(!keys.includes('name'));
  const retry = offered('nodes:\n  - name: a\n    retry:\n      |');
  assert.ok(retry.length > 2);
  assert.deepEqual(offered('nodes:\n  - {name: a, jq: ., retry: {|'), retry);
  assert.deepEqual(offered('edges:\n  - from: a\n    |').sort(), ['description', 'fan_in', 'on', 'parallel', 'to', 'when']);
});

test('a schema that depends on a value has the keys of that value', () => {
  const shell = offered('tasks:\n  - name: run_shell\n    config:\n      |', 'tasks');
  assert.ok(shell.includes('command') && shell.includes('envVars'), String(shell));
  const http = offered('tasks:\n  - name: check_http_json\n    config:\n      |', 'tasks');
  assert.ok(http.includes('url') && !http.includes('command'), String(http));
  assert.ok(offered('tasks:\n  - {name: run_shell, config: {|', 'tasks').includes('command'));
  assert.ok(offered('steps:\n  - type: script\n    config:\n      |', 'pipeline').includes('command'));
});

test('values are those that a scalar may have', () => {
  assert.ok(offered('tasks:\n  - name: |', 'tasks').includes('run_shell'));
  assert.deepEqual(offered('steps:\n  - type: |', 'pipeline'), ['script', 'docker', 'agent']);
  assert.deepEqual(offered('nodes:\n  - name: a\n    fan_in: |'), ['true', 'false']);
  assert.deepEqual(offered('nodes:\n  - name: a\n    language: |'), ['python', 'javascript', 'lua', 'jq', 'shell']);
});

test('every key of every example is known to the schema that it is completed by', () => {
  for (const folder of ['workflows', 'playbooks', 'pipelines']) {
    for (const name of readdirSync(path.join(ROOT, 'examples', folder)).filter(name => name.endsWith('.yaml'))) {
      const text = example(`${folder}/${name}`), workflow = workflowOf(text);
      assert.ok(workflow, `${name} is a workflow`);
      if (/kinds/.test(text)) continue; // their keys are in files beside it
      text.split('\n').forEach((line, i) => {
        const key = /^ {0,6}(?:- )?([a-z_A-Z]+):(?: |$)/.exec(line);
        if (!key || line.startsWith('#')) return;
        const place = placeAt(text, i, line.indexOf(key[1]) + 1);
        if (!place || place.part !== 'key' || /state|env|input|inputs|with|headers|requires|configVars|^config$/.test(place.path.join('.'))) return;
        const found = schemasAt(schemas[workflow.dialect], place.path, place.levels);
        assert.ok(keysOf(schemas[workflow.dialect], found).some(one => one.name === key[1]), `${name}:${i + 1}: ${key[1]} in ${place.path}`);
      });
    }
  }
});

test('a key is explained', () => {
  const place = at('nodes:\n  - name: a\n    out|put: x');
  const about = aboutOf(schemasAt(schemas.graph, [...place.path, 'output'], [...place.levels, new Map()]));
  assert.match(about, /key of the state/);
});

test('workflows are told from other YAML', () => {
  assert.deepEqual(['workflows/release.yaml', 'playbooks/hello.yaml', 'pipelines/ci.yaml'].map(name => workflowOf(example(name)).dialect),
    ['graph', 'tasks', 'pipeline']);
  const release = workflowOf(example('workflows/release.yaml'));
  assert.equal(release.line, 8);
  assert.equal(release.name, 'release');
  assert.deepEqual(release.nodes[0], {name: 'prepare', line: 14});
  assert.equal(workflowOf('nodes:\n').dialect, 'graph');
  assert.equal(workflowOf("nodes: [{name: a, jq: .}]").dialect, 'graph');
  assert.deepEqual(workflowOf('nodes:\n  - {jq: ., name: "b c"}\n').nodes, [{name: 'b c', line: 1}]);
  for (const other of ['', 'version: "3"\ntasks:\n  build: {cmds: [make]}\n', 'on: push\njobs:\n  a:\n    steps:\n      - run: make\n',
    'kind: Cluster\napiVersion: x\nnodes:\n  - role: worker\n', 'pool: x\nsteps:\n  - script: make\n', 'steps:\n  - script: make\n',
    '- hosts: all\n  tasks:\n    - name: a\n', 'a: |\n  nodes:\n  - name: b\n']) assert.equal(workflowOf(other), null, other);
});

test('the path under the cursor is shown up to the step that it is in', () => {
  const shown = (marked, dialect = 'graph') => pathAt(marked.replace('|', ''), marked.indexOf('|'), dialect)?.expression ?? null;
  assert.equal(shown('jq: "v\\(.ver|sion)"'), '.version');
  assert.equal(shown('{notes: [.te|st.stdout]}'), '.test');
  assert.equal(shown('{notes: [.test.std|out]}'), '.test.stdout');
  assert.equal(shown('.a|.b[0]."c d".e'), '.a.b');
  assert.equal(shown('.a.b[|0]."c d".e'), '.a.b[0]');
  assert.equal(shown('.a.b[0]."c| d".e'), '.a.b[0]."c d"');
  assert.equal(shown('.a["x y"].|z'), '.a["x y"].z');
  assert.equal(shown('x: $it|em.name'), '$item');
  assert.equal(shown('x: $item.na|me'), '$item.name');
  assert.equal(shown('file: ./par|ts/publish.yaml'), null);
  assert.equal(shown('version: 1.|4.0'), null);
  assert.equal(shown('range(0|..3)'), null);
  assert.equal(shown('# .ver|sion'), null);
  assert.equal(shown('if: tasks.setup.out|puts.epoch > 5', 'tasks'), '.tasks.setup.outputs');
  assert.equal(shown('title: Greet ${wh|o}', 'tasks'), '.who');
  assert.equal(shown('if: tasks.set|up', 'graph'), null);
});

test('a graph is drawn from the start to the end, and nothing stands on something else', () => {
  const boxesOf = drawing => drawing.boxes.flatMap(box => [box, ...box.inside ? boxesOf(box.inside) : []]);
  for (const folder of ['workflows', 'playbooks', 'pipelines']) {
    for (const name of readdirSync(path.join(ROOT, 'examples', folder)).filter(name => name.endsWith('.yaml'))) {
      const graph = JSON.parse(pawl('graph', '--json', `examples/${folder}/${name}`));
      const drawing = layout(graph.nodes, graph.edges);
      const {boxes, arrows} = drawing;
      assert.equal(boxes.length, graph.nodes.length + 2, name);
      assert.equal(arrows.length, graph.edges.length, name);
      for (const a of boxes) {
        assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= drawing.width && a.y + a.height <= drawing.height, `${name}: ${a.name} is outside`);
        for (const b of boxes) {
          const apart = a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
          assert.ok(apart, `${name}: ${a.name} stands on ${b.name}`);
        }
      }
      for (const {points, back} of arrows) if (!back) assert.ok(points.at(-1).y > points[0].y, name);
      for (const box of boxesOf(drawing)) {
        if (box.inside) assert.ok(box.inside.width <= box.width && box.inside.height < box.height, `${name}: ${box.name} is too small`);
      }
      assert.match(picture(graph, new Map()), /^<svg [^]*<\/svg>$/);
    }
  }
});

test('a loop of edges is drawn, and its way back is at the side', () => {
  const nodes = ['a', 'b', 'c'].map((name, i) => ({name, kind: 'jq', line: i + 1, col: 1}));
  const {boxes, arrows} = layout(nodes, [{from: '__start__', to: 'a'}, {from: 'a', to: 'b'}, {from: 'b', to: 'a', when: '.n < 3'},
    {from: 'b', to: 'c'}, {from: 'c', to: '__end__'}, {from: 'c', to: 'c'}]);
  assert.deepEqual(arrows.filter(arrow => arrow.back).map(({edge}) => edge.from + edge.to), ['ba', 'cc']);
  assert.deepEqual([...boxes].sort((a, b) => a.y - b.y).map(box => box.name), ['__start__', 'a', 'b', 'c', '__end__']);
});

test('a graph of 2,000 nodes is drawn in less than two seconds', () => {
  const nodes = Array.from({length: 2000}, (_, i) => ({name: `n${i}`, kind: 'jq', line: i + 1, col: 1}));
  const edges = nodes.map(({name}, i) => ({from: name, to: nodes[i + 1]?.name ?? '__end__'}));
  const begin = process.hrtime.bigint();
  picture({name: 'long', nodes, edges}, new Map());
  assert.ok(Number(process.hrtime.bigint() - begin) / 1e9 < 2);
});

test('names cannot say anything in a picture but themselves', () => {
  const nasty = '<script>alert(1)</script>"\'&';
  const svg = picture({name: nasty, nodes: [{name: nasty, kind: nasty, title: nasty, line: 1, col: 1}],
    edges: [{from: '__start__', to: nasty, when: nasty}]}, new Map([[nasty, 'done']]));
  assert.ok(!svg.includes('<script') && !svg.includes('alert(1)</'), svg);
});

test('the looks of nodes are those of the way to where the run stands', () => {
  const one = (checkpoint, parent, node, status) => ({checkpoint, parent, node, status});
  const history = [one(1, undefined, undefined, 'started'), one(2, 1, 'a', 'completed'), one(3, 2, 'b', 'failed'),
    one(4, 2, 'c', 'entered'), one(5, 4, 'd', 'completed')];
  assert.deepEqual(lineage(history, 5).map(x => x.checkpoint), [1, 2, 4, 5]);
  const looks = (status, stands) => Object.fromEntries(looksOf(history, {status, checkpoint: 5}, stands));
  assert.deepEqual(looks('running', ['e']), {a: 'done', c: 'goes', d: 'done', e: 'goes'});
  assert.deepEqual(looks('paused', ['e']), {a: 'done', c: 'goes', d: 'done', e: 'waits'});
  assert.deepEqual(looks('failed', ['e']), {a: 'done', c: 'failed', d: 'done', e: 'failed'});
});
