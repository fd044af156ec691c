// graph.mjs - a graph of LangGraph.js whose ten nodes each add 1, as the workflow `ten` of bench/server does.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const STEPS = 10;
const builder = new StateGraph(Annotation.Root({ n: Annotation() }));
for (let i = 0; i < STEPS; i++) builder.addNode(`a${i}`, (state) => ({ n: (state.n ?? 0) + 1 }));
builder.addEdge(START, "a0").addEdge(`a${STEPS - 1}`, END);
for (let i = 1; i < STEPS; i++) builder.addEdge(`a${i - 1}`, `a${i}`);
export const graph = builder.compile();
