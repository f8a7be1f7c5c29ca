// Handback beside other routes of a plain node:http server.
import { createServer } from "node:http";
import { chatAgent, createHandback } from "handback";
import { says, scriptedBy } from "handback/testing";

const model = scriptedBy(() => says("Hello ", "from ", "inside.")); // put "gpt-4o-mini" or any AI SDK model here
const handback = await createHandback({ data: ":memory:", agents: { default: chatAgent({ model }) } });

const server = createServer((request, response) => {
  if (request.url === "/") response.end("my app");
  else handback.handle(request, response);
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
