// langgraph.mjs - the development server of LangGraph.js, with the graph of graph.mjs.
//
//   node langgraph.mjs PORT
//
// What its command line does, without the watching of files and the page that it opens.
import { startServer } from "@langchain/langgraph-api/server";

await startServer({
    port: Number(process.argv[2]),
    host: "127.0.0.1",
    nWorkers: 10, // its default
    cwd: process.cwd(),
    graphs: { agent: "./graph.mjs:graph" },
});
