import type { Meta } from "handback/client";
import { ChevronRight, Wrench } from "lucide-react";
import { useMeta } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Badge } from "../../ui/badge.tsx";
import { Section } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { EmptyState, Skeleton } from "../../ui/skeleton.tsx";

type Tool = Meta["agents"][number]["tools"][number];

const ROLES = { client: "status.browser", external: "status.external", server: "status.server" } as const;

/** The agents of this server and what they may call. */
export function Tools() {
  const t = useT();
  const meta = useMeta();
  if (!meta) return <Skeleton label={t("ui.loading")} className="h-96" />;
  return meta.agents.map(({ name, tools }) => (
    <Section key={name} title={t("settings.agent", { name })} hint={t("settings.toolCount", { n: tools.length })}>
      {tools.length === 0 ? (
        <EmptyState icon={<Wrench />} title={t("settings.noTools")} hint={t("settings.noToolsHint")} />
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
          {tools.map((tool) => (
            <ToolRow key={tool.name} tool={tool} />
          ))}
        </ul>
      )}
    </Section>
  ));
}

function ToolRow({ tool }: { tool: Tool & { approval?: string } }) {
  const t = useT();
  return (
    <li>
      <details className="group">
        <summary className="flex min-h-11 list-none items-center gap-3 rounded-lg px-3.5 py-2 -outline-offset-2 hover:bg-hover">
          <ChevronRight aria-hidden className="size-4 shrink-0 text-muted transition-transform group-open:rotate-90" />
          <span className="flex min-w-0 flex-1 flex-col sm:flex-row sm:items-baseline sm:gap-3">
            <code className="font-mono text-sm font-semibold">{tool.name}</code>
            <span className="truncate text-sm text-muted">{tool.description}</span>
          </span>
          {(tool.approval === "always" || tool.approval === "sometimes") && <Badge tone="wait">{t("settings.needsApproval")}</Badge>}
          <Badge>{t(ROLES[tool.owner])}</Badge>
        </summary>
        <div className="px-3.5 pb-3.5 pl-10">
          <CodeBlock language="json" label={t("settings.schema", { name: tool.name })} code={JSON.stringify(tool.input, null, 2)} />
        </div>
      </details>
    </li>
  );
}
