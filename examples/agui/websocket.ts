// The second transport: one RunAgentInput as a text frame in, one AG-UI event per frame out. Browsers and Node have the client built in.
import assert from "node:assert/strict";
import { chatAgent, createHandback } from "handback";
import { says, scripted } from "handback/testing";

const handback = await createHandback({ data: ":memory:", agents: { default: chatAgent({ model: scripted(says("Hello ", "socket.")) }) } });
const { url } = await handback.listen({ port: 0 });

const socket = new WebSocket(`${url.replace("http", "ws")}/agui/ws`);
const over = Promise.withResolvers<void>();
let text = "";
socket.addEventListener("open", () => {
  socket.send(JSON.stringify({ threadId: "demo", runId: "run-1", messages: [{ id: "u1", role: "user", content: "Hi." }] }));
});
socket.addEventListener("message", ({ data }) => {
  const event = JSON.parse(String(data));
  if (event.type === "TEXT_MESSAGE_CONTENT") text += event.delta;
  if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") over.resolve();
});
socket.addEventListener("error", () => over.reject(new Error("the socket failed")));
await over.promise;
socket.close(1000);

console.log(text);
assert.equal(text, "Hello socket.");
await handback.close({ grace: 0 });
