import type { DocumentView } from "handback/client";
import { FileText } from "lucide-react";
import { useLocation } from "wouter";
import { to } from "../../app/place.ts";
import { useT } from "../../i18n/i18n.ts";
import { StatusPill } from "../../ui/status-pill.tsx";

/** A long text that is written beside the conversation: here it is only a card that opens it. */
export function DocumentChip({ threadId, document }: { threadId: string; document: DocumentView }) {
  const t = useT();
  const [, go] = useLocation();
  return (
    <button
      type="button"
      data-testid="document-chip"
      onClick={() => go(to.chat(threadId, { dock: "document", document: document.id }))}
      className="my-2 flex w-full max-w-md items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3 text-left shadow-card transition-colors hover:bg-hover"
    >
      <FileText aria-hidden className="size-5 shrink-0 text-link" />
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{document.title}</span>
        <span className="block text-sm text-muted">{t("chat.documentSize", { n: document.text.length })}</span>
      </span>
      <StatusPill status={document.state === "streaming" ? "running" : document.state === "done" ? "done" : "cancelled"} />
    </button>
  );
}
