import { AIMessage } from "@langchain/core/messages";
import { END, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { defineConfig } from "handback";
import { langgraph } from "handback/langgraph";

// A graph as you have it; put your own model where `draft` writes its text.
const graph = new StateGraph(MessagesAnnotation)
  .addNode("draft", ({ messages }) => ({ messages: [new AIMessage(`A post about ${messages.at(-1)?.text}.`)] }))
  .addNode("review", () => {
    const verdict: string = interrupt("Publish it?");
    return { messages: [new AIMessage(verdict === "yes" ? "Published." : "Thrown away.")] };
  })
  .addEdge(START, "draft")
  .addEdge("draft", "review")
  .addEdge("review", END)
  .compile();

export default defineConfig({ agents: { default: langgraph(graph) } });
