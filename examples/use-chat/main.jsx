import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { mayRun, tab } from "./claim.js";

const transport = new DefaultChatTransport({
  api: "/api/chat",
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `/api/chat/${id}/stream?client=${tab}` }),
});

function Page({ id, history }) {
  const [text, setText] = useState("");
  const [lost, setLost] = useState(false);
  const { messages, status, error, setMessages, sendMessage, addToolOutput, addToolApprovalResponse, stop, resumeStream } = useChat({
    id,
    messages: history,
    resume: true, // the history has no unfinished message: the stream brings it, and offers waiting tools again
    transport,
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
    onToolCall({ toolCall }) {
      if (toolCall.toolName === "paint") void paint(toolCall); // not awaited: the stream would wait for it
    },
  });

  async function paint({ toolCallId, input }) {
    if (!(await mayRun(toolCallId))) {
      setLost(true);
      return;
    }
    document.body.style.background = input.colour;
    localStorage["painted"] = Number(localStorage["painted"] ?? 0) + 1;
    void addToolOutput({ tool: "paint", toolCallId, output: `painted ${input.colour}` });
  }

  // Another tab runs it: follow what it does, or take what has come of it.
  useEffect(() => {
    if (status !== "ready" || !lost) return;
    setLost(false);
    void resumeStream().then(async () => {
      const { messages, active } = await load(id);
      if (!active) setMessages(messages);
    });
  });

  async function halt() {
    await stop(); // only hangs up
    await fetch(`/api/chat/${id}/stop`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  }

  function send(event) {
    event.preventDefault();
    void sendMessage({ text });
    setText("");
  }

  return (
    <>
      {messages.map((message) => (
        <div key={message.id} className={message.role} data-message={message.id}>
          {message.parts.map((part, i) => (
            <Part key={part.toolCallId ?? i} part={part} answer={addToolOutput} decide={addToolApprovalResponse} />
          ))}
        </div>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" onClick={halt}>
          Stop
        </button>
        <output>{status}</output>
      </form>
    </>
  );
}

function Part({ part, answer, decide }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "tool-ask_user" && part.state === "input-available") {
    const say = (yes) => answer({ tool: "ask_user", toolCallId: part.toolCallId, output: { confirmed: yes } });
    return <Choice question={part.input.question} say={say} />;
  }
  if (part.state === "approval-requested") {
    const say = (approved) => decide({ id: part.approval.id, approved });
    return <Choice question={`Pay back ${part.input.amount}?`} say={say} />;
  }
  if (!part.type.startsWith("tool-")) return null;
  return (
    <div className="tool">
      {part.type.slice(5)}: {part.state}
    </div>
  );
}

function Choice({ question, say }) {
  return (
    <div className="tool">
      <p>{question}</p>
      <button type="button" onClick={() => say(true)}>
        Yes
      </button>
      <button type="button" onClick={() => say(false)}>
        No
      </button>
    </div>
  );
}

async function load(id) {
  return (await fetch(`/api/chat/${id}/messages`)).json();
}

const id = new URLSearchParams(location.search).get("id") ?? "demo";
const { messages } = await load(id);
createRoot(document.getElementById("root")).render(<Page id={id} history={messages} />);
