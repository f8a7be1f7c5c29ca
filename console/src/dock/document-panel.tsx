import { Download, FileText } from "lucide-react";
import { useParam } from "../app/use-param.ts";
import { saveFile } from "../call/save-file.ts";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Select } from "../ui/field.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { EmptyState } from "../ui/skeleton.tsx";
import { StatusPill } from "../ui/status-pill.tsx";
import type { PanelProps } from "./panels.tsx";

/** What the agent writes beside the conversation, while it writes it. */
export default function DocumentPanel({ view }: PanelProps) {
  const t = useT();
  const [chosen, choose] = useParam("document");
  const document = (chosen === undefined ? undefined : view.documents.get(chosen)) ?? view.documents.at(-1);
  if (!document) return <EmptyState icon={<FileText />} title={t("dock.noDocument")} hint={t("dock.noDocumentHint")} />;
  return (
    <>
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        {view.documents.length > 1 ? (
          <Select
            className="h-8 w-auto! max-w-56"
            aria-label={t("dock.document")}
            value={document.id}
            onChange={(event) => choose(event.target.value)}
          >
            {view.documents.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </Select>
        ) : (
          <h2 className="min-w-0 truncate font-semibold">{document.title}</h2>
        )}
        <StatusPill status={document.state === "streaming" ? "running" : document.state === "done" ? "done" : "cancelled"} />
        <span className="flex-1" />
        <CopyButton text={document.text} />
        <Button
          size="sm"
          icon={<Download aria-hidden className="size-3.5" />}
          onClick={() => saveFile(`${document.title}.md`, document.text)}
        >
          .md
        </Button>
      </div>
      <div
        tabIndex={0}
        role="region"
        aria-label={document.title}
        data-testid="document"
        className="min-h-0 flex-1 overflow-auto px-5 py-4 -outline-offset-2"
      >
        <Markdown text={document.text} />
      </div>
    </>
  );
}
