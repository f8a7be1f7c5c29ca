import { type AssistantMessageView, groupOf, type PartView } from "handback/client";
import { Brain, ExternalLink, FileText, Paperclip, Scissors } from "lucide-react";
import { CallCard } from "../../call/call-card.tsx";
import { Output } from "../../call/settlement.tsx";
import { useThreadPart } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Badge } from "../../ui/badge.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Duration } from "../../ui/time.tsx";
import { DocumentChip } from "./document-chip.tsx";

/** One step of the model, part by part, in the order it came. */
export function AssistantMessage({ threadId, message, live }: { threadId: string; message: AssistantMessageView; live: boolean }) {
  const t = useT();
  const firstCall = message.parts.find((part) => part.type === "call")?.id;
  return (
    <div data-testid="assistant-message" data-state={message.state}>
      {message.parts.map((part) => (
        <div key={part.id}>
          {part.id === firstCall && <Group threadId={threadId} stepId={message.id} />}
          <Part threadId={threadId} part={part} live={live} />
        </div>
      ))}
      {message.state === "cut" && (
        <p className="flex items-center gap-1.5 pt-1 text-xs text-muted">
          <Scissors aria-hidden className="size-3.5" />
          {t("chat.cut")}
        </p>
      )}
    </div>
  );
}

/** How many of the calls that were made together are answered. */
function Group({ threadId, stepId }: { threadId: string; stepId: string }) {
  const t = useT();
  const total = useThreadPart(threadId, (view) => groupOf(view, stepId).total);
  const answered = useThreadPart(threadId, (view) => groupOf(view, stepId).answered);
  if (total < 2) return null;
  return (
    <p className="pt-2">
      <Badge tone={answered < total ? "wait" : "good"}>{t("chat.group", { done: answered, all: total })}</Badge>
    </p>
  );
}

function Part({ threadId, part, live }: { threadId: string; part: PartView; live: boolean }) {
  const t = useT();
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} />;
    case "reasoning":
      return (
        <details
          className="my-1.5 rounded-lg border border-line bg-surface px-3 py-1.5 text-sm text-muted"
          open={part.state === "streaming"}
        >
          <summary className="flex min-h-6 items-center gap-1.5 hover:text-fg">
            <Brain aria-hidden className="size-3.5" />
            {t(part.state === "streaming" ? "chat.thinking" : "chat.thought")}
            <Duration
              ms={part.endedAt === undefined ? undefined : part.endedAt - part.startedAt}
              since={part.startedAt}
              className="text-xs"
            />
          </summary>
          <p className="py-1.5 whitespace-pre-wrap [overflow-wrap:anywhere]">{part.text}</p>
        </details>
      );
    case "call":
      return <CallOf threadId={threadId} id={part.id} live={live} />;
    case "document":
      return <DocumentOf threadId={threadId} id={part.id} />;
    case "file":
      return (
        <p className="flex items-center gap-1.5 py-1 text-sm text-muted">
          <Paperclip aria-hidden className="size-3.5" />
          {part.file.name ?? part.file.mediaType}
        </p>
      );
    case "source":
      return (
        <p className="flex items-center gap-1.5 py-1 text-sm">
          {part.url !== undefined && /^https?:/.test(part.url) ? (
            <a href={part.url} target="_blank" rel="noopener noreferrer" className="flex items-center gap-1.5 text-link underline">
              <ExternalLink aria-hidden className="size-3.5" />
              {part.title ?? part.url}
            </a>
          ) : (
            <span className="flex items-center gap-1.5 text-muted">
              <FileText aria-hidden className="size-3.5" />
              {part.title ?? part.url ?? part.id}
            </span>
          )}
        </p>
      );
    case "data":
      return <Output value={part.value} name={part.name} />;
    default:
      return part satisfies never;
  }
}

// Each follows its own thing, so that what happens to one call does not draw the message again.

function CallOf({ threadId, id, live }: { threadId: string; id: string; live: boolean }) {
  const call = useThreadPart(threadId, (view) => view.calls.get(id));
  return call ? <CallCard threadId={threadId} call={call} readOnly={!live} /> : null;
}

function DocumentOf({ threadId, id }: { threadId: string; id: string }) {
  const document = useThreadPart(threadId, (view) => view.documents.get(id));
  return document ? <DocumentChip threadId={threadId} document={document} /> : null;
}
