import { CopilotChat, CopilotKitProvider, useFrontendTool, useHumanInTheLoop, useInterrupt } from "@copilotkit/react-core/v2";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import "@copilotkit/react-core/v2/styles.css";

function Tools() {
  // Runs by itself, in the page that asked. A reload while it runs lets go of it: CopilotKit runs such tools only once.
  useFrontendTool({
    name: "paint",
    description: "Paints the page",
    parameters: z.object({ colour: z.string() }),
    handler: async ({ colour }) => {
      document.body.style.background = colour;
      localStorage["painted"] = Number(localStorage["painted"] ?? 0) + 1;
      return `painted ${colour}`;
    },
    render: ({ args, status }) => (
      <div className="tool">
        paint {args.colour}: {status}
      </div>
    ),
  });
  // Waits for the person, and asks again after a reload.
  useHumanInTheLoop({
    name: "ask_user",
    description: "Asks the person a yes-or-no question",
    parameters: z.object({ question: z.string() }),
    render: ({ args, respond, result }) =>
      respond ? (
        <Choice question={args.question} say={(yes) => respond({ confirmed: yes })} />
      ) : (
        <div className="tool">asked: {result}</div>
      ),
  });
  // A tool of the server that needs a person's approval.
  useInterrupt({
    render: ({ interrupt, resolve }) => (
      <Choice
        question={`${interrupt.message} ${JSON.stringify(interrupt.metadata.prompt.input)}`}
        say={(approved) => resolve({ approved })}
      />
    ),
  });
  return null;
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

const threadId = new URLSearchParams(location.search).get("id") ?? "demo";
createRoot(document.getElementById("root")).render(
  <CopilotKitProvider runtimeUrl="/copilotkit">
    <Tools />
    <CopilotChat threadId={threadId} />
  </CopilotKitProvider>,
);
