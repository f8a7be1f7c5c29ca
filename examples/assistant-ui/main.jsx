import { useChat } from "@ai-sdk/react";
import {
  AssistantRuntimeProvider,
  AuiConfig,
  ComposerPrimitive,
  defineToolkit,
  MessagePrimitive,
  makeAssistantTool,
  makeAssistantToolUI,
  ThreadPrimitive,
  Tools,
} from "@assistant-ui/react";
import { AssistantChatTransport, useAISDKRuntime } from "@assistant-ui/react-ai-sdk";
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from "ai";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import { mayRun, tab } from "./claim.js";

const id = new URLSearchParams(location.search).get("id") ?? "demo";

const transport = new AssistantChatTransport({
  api: "/api/chat",
  // assistant-ui makes up an id for each page load; a thread that survives reloads needs one of its own.
  prepareSendMessagesRequest: ({ body, messages, trigger, messageId }) => ({ body: { ...body, id, messages, trigger, messageId } }),
  prepareReconnectToStreamRequest: () => ({ api: `/api/chat/${id}/stream?client=${tab}` }),
});

/** Set by the page. */
let follow = async () => {};

/** Runs by itself, in this page. */
const Paint = makeAssistantTool({
  toolName: "paint",
  description: "Paints the page",
  parameters: z.object({ colour: z.string() }),
  execute: async ({ colour }, { toolCallId }) => {
    if (!(await mayRun(toolCallId))) {
      void follow(); // another tab runs it: its result comes by the stream
      return new Promise(() => {});
    }
    document.body.style.background = colour;
    localStorage["painted"] = Number(localStorage["painted"] ?? 0) + 1;
    return `painted ${colour}`;
  },
  render: ({ args, result }) => (
    <div className="tool">
      paint {args.colour}: {result === undefined ? "…" : "done"}
    </div>
  ),
});

/** The same as a toolkit. This one asks the person in the middle of its work; the server sees only what came of it. */
const toolkit = defineToolkit({
  create_record: {
    type: "frontend",
    description: "Creates a record, once the person has confirmed it",
    parameters: z.object({ title: z.string() }),
    execute: async ({ title }, { human }) => {
      const { confirmed } = await human({ question: `Create "${title}"?` });
      return confirmed ? { created: title } : { created: null };
    },
    render: ({ args, result, interrupt, resume }) =>
      interrupt && result === undefined ? (
        <div className="tool">
          <p>{interrupt.payload.question}</p>
          <button type="button" onClick={() => resume({ confirmed: true })}>
            Yes
          </button>
          <button type="button" onClick={() => resume({ confirmed: false })}>
            No
          </button>
        </div>
      ) : (
        <div className="tool">record {args.title}</div>
      ),
  },
});

const config = AuiConfig({ tools: Tools({ toolkit }) });

/** The server runs it, once the person has agreed. */
const Refund = makeAssistantToolUI({
  toolName: "refund",
  render: ({ args, result, approval, respondToApproval }) =>
    approval && approval.approved === undefined && result === undefined ? (
      <div className="tool">
        <p>Pay back {args.amount}?</p>
        <button type="button" onClick={() => respondToApproval({ approved: true })}>
          Yes
        </button>
        <button type="button" onClick={() => respondToApproval({ approved: false })}>
          No
        </button>
      </div>
    ) : (
      <div className="tool">refund {args.amount}</div>
    ),
});

function Page({ history }) {
  const chat = useChat({
    id,
    messages: history,
    resume: true, // brings the unfinished message, and with it the tools that wait for this page
    transport,
    // Without it no result and no decision is ever sent.
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
  });
  follow = async () => {
    await chat.resumeStream();
    const { messages, active } = await load(); // in case it was over already
    if (!active) chat.setMessages(messages);
  };
  const runtime = useAISDKRuntime(chat);
  transport.setRuntime(runtime); // so that it can send the tools of this page

  const halt = () => fetch(`/api/chat/${id}/stop`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });

  return (
    <AssistantRuntimeProvider runtime={runtime} config={config}>
      <Paint />
      <Refund />
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          <ComposerPrimitive.Cancel onClick={halt}>Stop</ComposerPrimitive.Cancel>
        </ComposerPrimitive.Root>
        <output>{chat.status}</output>
        {chat.error && <p role="alert">{chat.error.message}</p>}
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

function Message() {
  return (
    <MessagePrimitive.Root>
      <MessagePrimitive.Parts components={{ Text }} />
    </MessagePrimitive.Root>
  );
}

function Text({ text }) {
  return <p>{text}</p>;
}

async function load() {
  return (await fetch(`/api/chat/${id}/messages`)).json();
}

const { messages } = await load();
createRoot(document.getElementById("root")).render(<Page history={messages} />);
