// bare.mjs - the least that a server of node can do about a run: one row in SQLite.
//
//   node bare.mjs PORT FILE
//
// POST /runs writes a row and answers with it, GET /runs/ID reads it. SQLite is asked for what Pawl asks it for: a log of
// writes (WAL), synced to disk by every commit.
import http from "node:http";
import Database from "better-sqlite3";

const [port, file] = process.argv.slice(2);
const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE run (run INTEGER PRIMARY KEY, workflow TEXT, status TEXT, checkpoint INTEGER, created INTEGER)");
const insert = db.prepare("INSERT INTO run (workflow, status, checkpoint, created) VALUES (?, 'completed', 11, ?)");
const find = db.prepare("SELECT * FROM run WHERE run = ?");

function answer(res, status, value) {
    const text = JSON.stringify(value);
    res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    res.end(text);
}

function post(req, res) {
    let text = "";
    req.on("data", (part) => (text += part));
    req.on("end", () => {
        const { lastInsertRowid } = insert.run(JSON.parse(text).workflow, Date.now());
        answer(res, 201, find.get(lastInsertRowid));
    });
}

http.createServer((req, res) => {
    if (req.url === "/healthz") return answer(res, 200, { status: "ok" });
    if (req.method === "POST") return post(req, res);
    const row = find.get(Number(req.url.split("/").pop()));
    answer(res, row ? 200 : 404, row ?? {});
}).listen(Number(port), "127.0.0.1");
