import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { measure, type Shape } from "./graph-shapes.ts";

/** LangGraph.js with its SQLite checkpointer, as it is installed in a folder: `node graph-langgraph.ts <folder> <data> <shapes>`. */
const [folder = "", data = "", wanted = "[]"] = process.argv.slice(2);

/** Not a plain import: what is installed for this bench alone is no dependency of ours. */
async function load<T>(name: string): Promise<T> {
  const path = createRequire(join(folder, "package.json")).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}

const { Annotation, END, START, Send, StateGraph } = await load<typeof import("@langchain/langgraph")>("@langchain/langgraph");
type Saver = import("@langchain/langgraph").BaseCheckpointSaver;
const { SqliteSaver } = await load<{ SqliteSaver: { fromConnString(path: string): Saver } }>("@langchain/langgraph-checkpoint-sqlite");

const State = Annotation.Root({ count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }) });
const one = () => ({ count: 1 });

function build({ name, nodes }: Shape) {
  const graph = new StateGraph(State) as unknown as StateGraphOfStrings;
  if (name === "loop")
    return graph
      .addNode("again", one)
      .addEdge(START, "again")
      .addConditionalEdges("again", ({ count }) => (count < nodes ? "again" : END), ["again", END]);
  if (name === "fan-out")
    return graph
      .addNode("plan", () => ({}))
      .addNode("work", one)
      .addNode("join", () => ({}))
      .addEdge(START, "plan")
      .addConditionalEdges("plan", () => Array.from({ length: nodes }, () => new Send("work", {})), ["work"])
      .addEdge("work", "join")
      .addEdge("join", END);
  for (let i = 0; i < nodes; i += 1) graph.addNode(`n${i}`, one).addEdge(i === 0 ? START : `n${i - 1}`, `n${i}`);
  return graph.addEdge(`n${nodes - 1}`, END);
}

/** Its types know every node by name; a chain is built in a loop. */
type StateGraphOfStrings = {
  addNode(name: string, node: () => object): StateGraphOfStrings;
  addEdge(from: string, to: string): StateGraphOfStrings;
  addConditionalEdges(from: string, route: (state: { count: number }) => unknown, to: string[]): StateGraphOfStrings;
  compile(options: object): { invoke(input: object, config: object): Promise<{ count: number }> };
};

const checkpointer = SqliteSaver.fromConnString(join(data, "langgraph.db"));
for (const shape of JSON.parse(wanted) as Shape[]) {
  const graph = build(shape).compile({ checkpointer });
  for (const durability of ["async", "sync"] as const) {
    const cost = await measure(shape, durability, async (thread_id) => {
      const config = { configurable: { thread_id }, recursionLimit: shape.nodes + 10, durability };
      return (await graph.invoke({ count: 0 }, config)).count;
    });
    process.send?.(cost);
  }
}
process.disconnect?.();
