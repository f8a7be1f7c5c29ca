import { CircleCheck, CircleX } from "lucide-react";
import { useEffect, useState } from "react";
import { API_ROOT } from "../../app/place.ts";
import { useToken } from "../../app/token.ts";
import { useParam } from "../../app/use-param.ts";
import { useConnection, useMeta } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Badge } from "../../ui/badge.tsx";
import { Section } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { snippetsOf } from "./snippets.ts";

/** Code for each door, with this server's address in it. */
export function Connect() {
  const t = useT();
  const meta = useMeta();
  const secured = useToken() !== undefined;
  const [param, setParam] = useParam("door");
  if (!meta) return <Skeleton label={t("ui.loading")} className="h-96" />;
  const outside = meta.agents.flatMap(({ tools }) => tools).find(({ owner }) => owner === "external");
  const snippets = snippetsOf(API_ROOT, meta.doors, { tool: outside?.name ?? "my_tool", secured });
  const [first] = snippets;
  const chosen = snippets.find(({ id }) => id === param) ?? first;
  if (!chosen) return null;
  return (
    <Section title={t("settings.connect")} hint={t("settings.connectHint")} actions={<Health />}>
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-sunken px-3.5 py-2.5">
          <span className="text-sm text-muted">{t("settings.address")}</span>
          <code className="min-w-0 font-mono text-sm font-medium [overflow-wrap:anywhere]">{API_ROOT}</code>
        </div>
        <Tabs
          label={t("settings.connect")}
          tabs={snippets.map(({ id, name }) => ({ id, label: name }))}
          value={chosen.id}
          onChange={(id) => setParam(id)}
          panelClassName="flex flex-col gap-3 pt-4"
        >
          <p className="max-w-prose">{t(chosen.about)}</p>
          {chosen.install && <CodeBlock language="sh" label={t("settings.install")} code={chosen.install} />}
          <CodeBlock language={chosen.language} label={chosen.name} code={chosen.code} />
        </Tabs>
        <p className="text-sm text-muted">
          {t("settings.routes")}{" "}
          <a className="text-link underline underline-offset-2" href={`${API_ROOT}/reference`} target="_blank" rel="noopener">
            {t("settings.reference")}
          </a>
        </p>
      </div>
    </Section>
  );
}

/** Whether the server is ready for requests now. */
function Health() {
  const t = useT();
  const { state } = useConnection();
  const [ready, setReady] = useState<boolean>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when the connection comes or goes
  useEffect(() => {
    const left = new AbortController();
    fetch(`${API_ROOT}/readyz`, { signal: left.signal }).then(
      ({ ok }) => setReady(ok),
      () => !left.signal.aborted && setReady(false),
    );
    return () => left.abort();
  }, [state]);
  if (ready === undefined) return null;
  return ready ? (
    <Badge tone="good" icon={<CircleCheck aria-hidden className="size-3" />}>
      {t("settings.ready")}
    </Badge>
  ) : (
    <Badge tone="bad" icon={<CircleX aria-hidden className="size-3" />}>
      {t("settings.notReady")}
    </Badge>
  );
}
