// Whose thread is it? `authenticate` knows; where there is none, a resolver may read it from the request, as seed 003 does.
import assert from "node:assert/strict";
import { chatAgent, createHandback } from "handback";
import { says, scriptedBy } from "handback/testing";

const handback = await createHandback({
  data: ":memory:",
  agui: {
    resolveUser: ({ forwardedProps }) => {
      const props = (forwardedProps ?? {}) as { userId?: string };
      return props.userId ?? "anonymous";
    },
    resolveOptions: ({ forwardedProps }) => {
      const { style } = (forwardedProps ?? {}) as { style?: string };
      return style === undefined ? undefined : { instructions: `Answer in a ${style} way.` };
    },
  },
  agents: { default: chatAgent({ model: scriptedBy(({ instructions }) => says(instructions ?? "Answer.")) }) },
});
const { url } = await handback.listen({ port: 0 });
const post = async (path: string, body: object) => {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.text();
};

const answer = await post("/agui", {
  threadId: "demo",
  messages: [{ role: "user", content: "hello" }],
  forwardedProps: { userId: "alice", style: "brief" },
});
assert.match(answer, /Answer in a brief way\./);
const alices = await post("/agui/history", { threadId: "demo", forwardedProps: { userId: "alice" } });
const bobs = await post("/agui/history", { threadId: "demo", forwardedProps: { userId: "bob" } });
assert.match(alices, /hello/);
assert.doesNotMatch(bobs, /hello/); // the same thread id under another user is another thread
console.log("alice's thread is alice's");
await handback.close({ grace: 0 });
