// peer.mjs - LangGraph.js doing what bench/engine measures: one row in one process.
//
//   node peer.mjs [--quick] WHAT
//
// Prints JSON lines such as {"what":"step_sqlite","us":1150.2,"steps":1000}; `us` and `ms` are
// time on the wall, `bytes` is what lies on disk. The names and what they mean are in the table
// at the end. bench/engine copies this file beside the node_modules it has installed. Databases
// are made in the current folder.
//
// The graph is the smallest that steps: one node adds 1 to a counter, one conditional edge leads
// back to it. Everything that has a default keeps it (checkpoints of every step, written
// asynchronously). A run of the same length comes first, so that the code is warm when it counts.
import fs from "node:fs";
import path from "node:path";

globalThis.crypto ??= (await import("node:crypto")).webcrypto; // node 18 has it only here
const began = performance.now(); // since the process started
const { Annotation, END, MemorySaver, START, StateGraph } = await import("@langchain/langgraph");
const imported = performance.now();

const LARGE_BYTES = 1e6;
const MESSAGE = "one line, a hundred bytes with its quotes and its comma".padEnd(97, ".");
const QUICK_PART = 10; // --quick takes this part of the steps

const args = process.argv.slice(2);
const quick = args[0] === "--quick";
const what = args[quick ? 1 : 0];
const stepsOf = (steps) => (quick ? Math.max(steps / QUICK_PART, 5) : steps);

// ---- graphs ----

const oneMore = (state) => (state.count < state.limit ? "step" : END);

function loop(channels, step) {
    const state = Annotation.Root({ count: Annotation(), limit: Annotation(), ...channels });
    return new StateGraph(state)
        .addNode("step", step)
        .addEdge(START, "step")
        .addConditionalEdges("step", oneMore, ["step", END]);
}

const counting = (state) => ({ count: state.count + 1 });
const counter = loop({}, counting);
const counterBesideData = loop({ data: Annotation() }, counting);

/** Each step says one thing more; `entered` has when each of them began. */
const entered = [];
const talk = loop(
    { messages: Annotation({ reducer: (all, more) => all.concat(more), default: () => [] }) },
    (state) => {
        entered.push(performance.now());
        return { count: state.count + 1, messages: [MESSAGE] };
    },
);

/** An array of records of some 200 bytes each, 1 MB as JSON text. */
function largeData() {
    const records = [];
    for (let size = 2, i = 0; size < LARGE_BYTES; i++) {
        records.push({
            id: i,
            name: `record ${i}`,
            state: i % 3 ? "done" : "failed",
            score: i / 7,
            tags: ["alpha", "beta"],
            text: "x".repeat(90),
        });
        size += JSON.stringify(records[i]).length + 1;
    }
    return records;
}

const small = { graph: counter, input: () => ({}) };
const large = { graph: counterBesideData, input: () => ({ data: largeData() }) };
const growing = { graph: talk, input: () => ({}) };

// ---- stores ----

async function openSqlite() {
    const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    const folder = fs.mkdtempSync(path.resolve("sqlite-"));
    const file = path.join(folder, "checkpoints.db");
    const saver = SqliteSaver.fromConnString(file);
    saver.setup();
    const size = () => {
        saver.db.pragma("wal_checkpoint(TRUNCATE)");
        return fs.statSync(file).size;
    };
    const close = () => {
        saver.db.close();
        fs.rmSync(folder, { recursive: true });
    };
    return { saver, size, close };
}

const stores = {
    none: async () => ({ saver: undefined, close() {} }),
    memory: async () => ({ saver: new MemorySaver(), close() {} }),
    sqlite: openSqlite,
};

// ---- what is measured ----

let threads = 0;

/** Counts up to `steps`, on a thread of its own unless one is named; returns how long it took. */
async function run(app, workload, steps, { thread = `t${++threads}`, from = 0 } = {}) {
    const options = { recursionLimit: steps + 5, configurable: { thread_id: thread } };
    const input = { count: from, limit: steps, ...workload.input() };
    const start = performance.now();
    const result = await app.invoke(input, options);
    const us = (performance.now() - start) * 1000;
    if (result.count !== steps) {
        throw new Error(`The graph made ${result.count} steps instead of ${steps}.`);
    }
    return us;
}

async function inStore(storeName, workload, use) {
    const store = await stores[storeName]();
    const app = workload.graph.compile({ checkpointer: store.saver });
    const result = await use(app, store);
    store.close();
    return result;
}

const timeOfStep = (storeName, workload, steps) => () =>
    inStore(storeName, workload, async (app) => {
        const n = stepsOf(steps);
        await run(app, workload, n);
        return [{ us: (await run(app, workload, n)) / n, steps: n }];
    });

const sizeAfter = (workload, steps) =>
    inStore("sqlite", workload, async (app, store) => {
        await run(app, workload, steps);
        return store.size();
    });

/** Two runs, the second with as many steps again: what is stored once drops out. */
const bytesOfStep = (workload, steps) => async () => {
    const n = stepsOf(steps);
    const [once, twice] = [await sizeAfter(workload, n), await sizeAfter(workload, 2 * n)];
    return [{ bytes: (twice - once) / n, steps: n }];
};

/** A run that has made so many steps makes some more: what one of these costs. */
async function stepAfter(app, store, steps) {
    const thread = `t${++threads}`;
    const more = Math.max(steps / 10, 10);
    await run(app, growing, steps, { thread });
    entered.length = 0;
    const before = store.size();
    await run(app, growing, steps + more, { thread, from: steps });
    const us = ((entered.at(-1) - entered[0]) * 1000) / (more - 1);
    const checkpoints = more + 1; // the input of the second call is one
    return { steps, us, bytes: (store.size() - before) / checkpoints };
}

const growth = (sizes) => () =>
    inStore("sqlite", growing, async (app, store) => {
        await stepAfter(app, store, 100); // warms up
        const lines = [];
        for (const steps of quick ? sizes.slice(0, 2) : sizes) {
            lines.push(await stepAfter(app, store, steps));
        }
        return lines;
    });

async function timeToFirstNode() {
    let reached = 0;
    const graph = loop({}, (state) => {
        reached = performance.now();
        return counting(state);
    });
    await run(graph.compile(), small, 1);
    return [{ ms: reached }];
}

const measurements = {
    step_none: timeOfStep("none", small, 1000),
    step_memory: timeOfStep("memory", small, 1000),
    step_sqlite: timeOfStep("sqlite", small, 1000),
    step_none_1mb: timeOfStep("none", large, 500),
    step_memory_1mb: timeOfStep("memory", large, 50),
    step_sqlite_1mb: timeOfStep("sqlite", large, 50),
    bytes_sqlite: bytesOfStep(small, 500),
    bytes_sqlite_1mb: bytesOfStep(large, 20),
    start_ms: timeToFirstNode, // from the start of the process
    import_ms: async () => [{ ms: imported - began }],
    growth: growth([10, 100, 1000]),
};

if (!Object.hasOwn(measurements, what)) {
    console.error(`usage: node peer.mjs [--quick] ${Object.keys(measurements).join("|")}`);
    process.exit(2);
}
for (const line of await measurements[what]()) {
    console.log(JSON.stringify({ what, ...line }));
}
