import { useChat } from "@ai-sdk/react";
import { AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, useAuiState } from "@assistant-ui/react";
import { useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { DefaultChatTransport } from "ai";
import { createSandbox } from "handback/client/sandbox";
import { PROFILES } from "handback/profiles";
import { createContext, useContext, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { useReading } from "./reading.js";

const profile = PROFILES.get(new URLSearchParams(location.search).get("profile") ?? "JSON_Strict");
const { agents, sandbox: place } = await (await fetch("/v1/meta")).json();
const [{ tools }] = agents;
const sandbox = createSandbox(place);

/** The whole state is in the messages: each request is new to the server, and calls come back as the text the model wrote. */
const transport = new DefaultChatTransport({
  api: "/api/chat",
  prepareSendMessagesRequest: ({ messages }) => ({
    body: {
      messages: messages.map(({ role, parts }) => ({ role, content: textOf(parts) })),
      config: { mode: "chat", model: "ling-1t", profile: profile.name, toolCalls: "raw" },
    },
  }),
});

const Say = createContext(() => {});

function Page() {
  const chat = useChat({ transport, messages: JSON.parse(sessionStorage["messages"] ?? "[]") });
  const { messages, status } = chat;
  const runtime = useAISDKRuntime(chat);
  useEffect(() => {
    // Half an answer is none: neither while it comes, nor when a reload has broken it off.
    const whole = status === "ready" ? messages : messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1);
    sessionStorage["messages"] = JSON.stringify(whole);
  }, [messages, status]);

  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <Say value={(text) => void chat.sendMessage({ text })}>
        <ThreadPrimitive.Root>
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
          <ComposerPrimitive.Root>
            <ComposerPrimitive.Input aria-label="消息" />
            <ComposerPrimitive.Send>发送</ComposerPrimitive.Send>
            <ComposerPrimitive.Cancel>停止</ComposerPrimitive.Cancel>
          </ComposerPrimitive.Root>
          {status === "ready" && messages.at(-1)?.role === "user" && (
            <button type="button" onClick={() => chat.regenerate()}>
              重试
            </button>
          )}
          <output>{status}</output>
          {chat.error && <p role="alert">{chat.error.message}</p>}
        </ThreadPrimitive.Root>
      </Say>
    </AssistantRuntimeProvider>
  );
}

/** Results are messages, too: everything the model was told can be seen. */
function UserMessage() {
  return (
    <MessagePrimitive.Root className="user">
      <MessagePrimitive.Parts components={{ Text }} />
    </MessagePrimitive.Root>
  );
}

function Text({ text }) {
  return <p>{text}</p>;
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root>
      <MessagePrimitive.Parts components={{ Text: Answer }} />
    </MessagePrimitive.Root>
  );
}

function Answer({ text: words }) {
  const isWritten = useAuiState(({ message }) => message.status?.type !== "running");
  const isLast = useAuiState(({ message }) => message.isLast);
  const { text, calls, refused } = useReading(profile, tools, words, isWritten);
  return (
    <>
      <p>{text}</p>
      {calls.size > 0 && (isWritten ? <Calls calls={[...calls.values()]} isOpen={isLast} /> : <p>正在生成工具调用…</p>)}
      {refused.map((why) => (
        <p role="alert" key={why}>
          {why}
        </p>
      ))}
    </>
  );
}

/** Runs nothing by itself. When a person has decided about all of them, the results are what the user says next. */
function Calls({ calls, isOpen }) {
  const say = useContext(Say);
  const [results, setResults] = useState({});
  const [running, setRunning] = useState();
  const settle = (id, result) => {
    const all = { ...results, [id]: result };
    setResults(all);
    if (calls.every((call) => call.id in all)) {
      say(calls.map(({ id, name }) => profile.resultTemplate(id, all[id], { name })).join("\n"));
    }
  };
  const execute = async ({ id, input }) => {
    setRunning(id);
    const { ok, value, error } = await sandbox.run(input.code);
    setRunning(undefined);
    settle(id, ok ? value : { error: "tool_failed", reason: `${error.name}: ${error.message}` });
  };
  return calls.map((call) => (
    <div className="call" key={call.id}>
      <code>{call.name}</code>
      <pre>{call.input.code ?? JSON.stringify(call.input, null, 2)}</pre>
      {call.refusal && <p role="alert">{call.refusal.message}</p>}
      {isOpen && !(call.id in results) && (
        <>
          {!call.refusal && (
            <button type="button" disabled={running !== undefined} onClick={() => execute(call)}>
              执行此 Tool Call
            </button>
          )}
          <button type="button" disabled={running !== undefined} onClick={() => settle(call.id, { error: "rejected_by_user" })}>
            拒绝
          </button>
        </>
      )}
    </div>
  ));
}

function textOf(parts) {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

createRoot(document.getElementById("root")).render(<Page />);
