import type { Scenario } from "handback/client";
import { Calculator, Code2, Coffee, FileText, ShieldCheck, Unplug } from "lucide-react";
import { type ComponentType, useState } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { newThreadId, useActions, useMeta } from "../../data/hooks.ts";
import { useLanguage, useT } from "../../i18n/i18n.ts";
import { IconButton } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { ComposerBox } from "./composer-box.tsx";
import { useDraft } from "./use-draft.ts";

const ICONS: Record<string, ComponentType<{ className?: string }>> = {
  primes: Calculator,
  approval: ShieldCheck,
  menu: Coffee,
  plug: Unplug,
  report: FileText,
};

/** Where a thread begins: a question of one's own, or one of the things worth seeing first. */
export function Welcome() {
  const t = useT();
  const [, go] = useLocation();
  const meta = useMeta();
  const { send, unplug } = useActions();
  const agents = meta?.agents ?? [];
  const [agent, setAgent] = useState<string>();
  const [draft, setDraft] = useDraft("new");
  const begin = (text: string, scenario?: Scenario) => {
    const threadId = newThreadId();
    const options = { ...(agent !== undefined && { agent }), ...(scenario?.tools && { tools: scenario.tools }) };
    // The thread is there a moment after it was sent; who is offline waits on its page.
    const sent = send(threadId, text, options);
    void Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 1_000))]).then(() => go(to.chat(threadId)));
    if (scenario?.id === "plug") setTimeout(() => unplug(), 1_200);
  };
  return (
    <Page title={t("shell.chat")}>
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="mx-auto flex w-full max-w-3xl flex-col gap-8 px-4 pt-10 pb-8 md:px-6 md:pt-[12vh]">
          <div>
            <h2 className="text-2xl font-semibold tracking-tight">{t("chat.welcome")}</h2>
            <p className="mt-2 max-w-prose text-muted">{t(meta?.demo ? "chat.welcomeDemo" : "chat.welcomeHint")}</p>
          </div>
          <div className="flex flex-col gap-2">
            <ComposerBox
              autoFocus
              text={draft}
              onText={setDraft}
              placeholder={t("chat.placeholderNew")}
              onSubmit={(text) => {
                setDraft("");
                begin(text);
              }}
            />
            {agents.length > 1 && (
              <div className="flex items-center gap-2 text-sm text-muted">
                <span aria-hidden>{t("chat.agent")}</span>
                <Select
                  aria-label={t("chat.agent")}
                  className="h-8 w-auto!"
                  value={agent ?? "default"}
                  onChange={(event) => setAgent(event.target.value)}
                >
                  {agents.map(({ name }) => (
                    <option key={name}>{name}</option>
                  ))}
                </Select>
              </div>
            )}
          </div>
          <Scenarios scenarios={meta?.scenarios} loading={meta === undefined} onBegin={begin} />
        </div>
      </div>
    </Page>
  );
}

function Scenarios({
  scenarios,
  loading,
  onBegin,
}: {
  scenarios: Scenario[] | undefined;
  loading: boolean;
  onBegin: (text: string, scenario: Scenario) => void;
}) {
  const t = useT();
  const language = useLanguage() === "zh-CN" ? "zh" : "en";
  const [shown, setShown] = useState<Scenario>();
  if (loading)
    return (
      <div className="grid gap-3 sm:grid-cols-2">
        <Skeleton className="h-24" label={t("ui.loading")} />
        <Skeleton className="h-24" />
        <Skeleton className="h-24" />
        <Skeleton className="h-24" />
      </div>
    );
  if (!scenarios?.length) return null;
  return (
    <section aria-label={t("chat.scenarios")}>
      <h2 className="mb-3 text-sm font-semibold text-muted">{t("chat.scenarios")}</h2>
      <ul className="grid gap-3 sm:grid-cols-2">
        {scenarios.map((scenario) => {
          const Icon = ICONS[scenario.id] ?? Code2;
          return (
            <li
              key={scenario.id}
              className="group relative flex rounded-xl border border-line bg-surface shadow-card transition-colors hover:border-line-strong"
            >
              <button
                type="button"
                data-testid={`scenario-${scenario.id}`}
                onClick={() => onBegin(scenario.prompt[language], scenario)}
                className="flex min-w-0 flex-1 items-start gap-3 rounded-xl p-4 pr-12 text-left"
              >
                <span className="flex size-9 shrink-0 items-center justify-center rounded-lg bg-accent-soft text-link">
                  <Icon className="size-4.5" />
                </span>
                <span className="min-w-0">
                  <span className="block font-medium">{scenario.title[language]}</span>
                  <span className="mt-0.5 block text-sm text-muted">{scenario.text[language]}</span>
                </span>
              </button>
              <div className="absolute top-2.5 right-2.5">
                <IconButton
                  size="sm"
                  label={t("chat.showCode", { name: scenario.title[language] })}
                  icon={<Code2 className="size-4" />}
                  onClick={() => setShown(scenario)}
                />
              </div>
            </li>
          );
        })}
      </ul>
      <Dialog
        open={shown !== undefined}
        wide
        title={shown?.title[language] ?? ""}
        description={t("chat.codeHint")}
        onClose={() => setShown(undefined)}
      >
        {shown && <CodeBlock code={shown.code} language="js" label={t("chat.serverCode")} />}
      </Dialog>
    </section>
  );
}
