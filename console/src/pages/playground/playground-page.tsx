import { PROFILES, type Profile, parseProfile } from "handback/profiles";
import { RotateCcw, TextSelect } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { Page } from "../../app/page.tsx";
import { useParam } from "../../app/use-param.ts";
import { useMeta } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, Switch, TextArea } from "../../ui/field.tsx";
import { CaseTable } from "./case-table.tsx";
import { ParsedView } from "./parsed-view.tsx";
import { SAMPLE_TOOLS, SAMPLES, type Sample } from "./samples.ts";
import { codeOf, type Draft, draftOf, profileOf, promptOf } from "./template.ts";

const FIRST = SAMPLES[0] as Sample;

/** A laboratory for tools by prompt: what a profile tells a model, and what it makes of an answer. */
export default function PlaygroundPage() {
  const t = useT();
  const meta = useMeta();
  const [profileParam, setProfile] = useParam("profile");
  const [caseParam, setCase] = useParam("case");
  const [agentParam, setAgent] = useParam("tools");
  const base = (PROFILES.get(profileParam ?? "") ?? PROFILES.get("JSON_Strict")) as Profile;
  const sample = SAMPLES.find(({ id }) => id === caseParam) ?? FIRST;

  // What somebody has typed belongs to the profile and case it was typed for.
  const [drafts, setDrafts] = useState<Record<string, Draft>>({});
  const [typed, setTyped] = useState<Record<string, { text: string; cut: boolean }>>({});
  const [exporting, setExporting] = useState(false);

  const draft = drafts[base.name] ?? draftOf(base);
  const changed = drafts[base.name] !== undefined;
  const change = (part: Partial<Draft>) => setDrafts({ ...drafts, [base.name]: { ...draft, ...part } });
  const answerId = `${base.name} ${sample.id}`;
  const answer = typed[answerId] ?? { text: sample.write(base), cut: sample.cut ?? false };
  const agent = meta?.agents.find(({ name }) => name === agentParam);

  const profile = useMemo(() => profileOf(base, draft), [base, draft]);
  const tools = agent?.tools ?? SAMPLE_TOOLS;
  const prompt = useDeferredValue(useMemo(() => promptOf(profile, tools), [profile, tools]));
  const known = useMemo(() => [...SAMPLE_TOOLS, ...(agent?.tools ?? [])], [agent]);
  const parsed = useMemo(
    () => parseProfile(profile, answer.text, { tools: known, cut: answer.cut }),
    [profile, answer.text, answer.cut, known],
  );

  const choose = (profileName: string, caseId: string) => {
    setProfile(profileName);
    setCase(caseId);
  };

  return (
    <Page
      title={t("shell.playground")}
      actions={
        <div className="hidden sm:block">
          <Button size="sm" icon={<TextSelect aria-hidden className="size-3.5" />} onClick={() => setExporting(true)}>
            {t("playground.export")}
          </Button>
        </div>
      }
    >
      <div className="relative min-h-0 flex-1 overflow-auto -outline-offset-2" tabIndex={0} role="group" aria-label={t("shell.playground")}>
        <div className="mx-auto flex max-w-7xl flex-col gap-5 p-4 md:p-6">
          <p className="max-w-3xl text-muted">{t("playground.intro")}</p>
          <Section
            title={t("playground.told")}
            hint={t("playground.toldHint")}
            actions={
              changed && (
                <Button
                  size="sm"
                  kind="ghost"
                  icon={<RotateCcw aria-hidden className="size-3.5" />}
                  onClick={() => setDrafts(Object.fromEntries(Object.entries(drafts).filter(([name]) => name !== base.name)))}
                >
                  {t("playground.reset")}
                </Button>
              )
            }
          >
            <div className="grid items-stretch gap-x-6 gap-y-4 grid-cols-1 lg:grid-cols-2">
              <div className="flex flex-col gap-4">
                <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
                  <Field label={t("playground.profile")}>
                    {(ids) => (
                      <Select {...ids} value={base.name} onChange={(event) => setProfile(event.target.value)}>
                        {[...PROFILES.keys()].map((name) => (
                          <option key={name}>{name}</option>
                        ))}
                      </Select>
                    )}
                  </Field>
                  <Field label={t("playground.tools")}>
                    {(ids) => (
                      <Select {...ids} value={agent?.name ?? ""} onChange={(event) => setAgent(event.target.value)}>
                        <option value="">{t("playground.sampleTools")}</option>
                        {meta?.agents
                          .filter((each) => each.tools.length > 0)
                          .map(({ name }) => (
                            <option key={name} value={name}>
                              {t("playground.agentTools", { name })}
                            </option>
                          ))}
                      </Select>
                    )}
                  </Field>
                </div>
                <Template label={t("playground.introPart")} value={draft.intro} onChange={(intro) => change({ intro })} />
                <Template
                  label={t("playground.definitionPart")}
                  hint={t("playground.definitionHint")}
                  value={draft.definition}
                  onChange={(definition) => change({ definition })}
                />
                <Template label={t("playground.outroPart")} value={draft.outro} onChange={(outro) => change({ outro })} />
              </div>
              <div className="flex min-h-0 flex-col">
                <h3 className="mb-1.5 text-sm font-medium">{t("playground.prompt")}</h3>
                <CodeBlock wrap fill code={prompt} label={t("playground.prompt")} className="min-h-64 flex-1" />
              </div>
            </div>
          </Section>

          <Section title={t("playground.answers")} hint={t("playground.answersHint")}>
            <div className="grid items-start gap-x-6 gap-y-4 grid-cols-1 lg:grid-cols-2">
              <div className="flex flex-col gap-4">
                <Field label={t("playground.case")}>
                  {(ids) => (
                    <Select {...ids} value={sample.id} onChange={(event) => setCase(event.target.value)}>
                      {SAMPLES.map(({ id, label }) => (
                        <option key={id} value={id}>
                          {t(label)}
                        </option>
                      ))}
                    </Select>
                  )}
                </Field>
                <Field label={t("playground.text")}>
                  {(ids) => (
                    <TextArea
                      {...ids}
                      rows={Math.min(16, Math.max(7, answer.text.split("\n").length + 1))}
                      spellCheck={false}
                      className="font-mono text-xs leading-5"
                      value={answer.text}
                      onChange={(event) => setTyped({ ...typed, [answerId]: { ...answer, text: event.target.value } })}
                    />
                  )}
                </Field>
                <Switch
                  label={t("playground.cut")}
                  hint={t("playground.cutHint")}
                  checked={answer.cut}
                  onChange={(cut) => setTyped({ ...typed, [answerId]: { ...answer, cut } })}
                />
              </div>
              <ParsedView text={answer.text} parsed={parsed} />
            </div>
          </Section>
          <CaseTable profile={base.name} sample={sample.id} onChoose={choose} />
          <Section title={t("playground.looks")} hint={t("playground.looksHint")}>
            <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
              <CodeBlock
                wrap
                label={t("playground.callLooks")}
                code={base.callTemplate([{ id: "call_1", name: "get_menu", input: { category: "coffee" } }])}
              />
              <CodeBlock
                wrap
                label={t("playground.resultLooks")}
                code={base.resultTemplate("call_1", { latte: 30, "<b>": "&" }, { name: "get_menu" })}
              />
            </div>
          </Section>
        </div>
      </div>
      <Dialog
        wide
        open={exporting}
        onClose={() => setExporting(false)}
        title={t("playground.exportTitle")}
        description={t("playground.exportHint")}
      >
        <CodeBlock language="js" label={t("playground.exportTitle")} code={codeOf(base, draft, `My_${base.name}`)} />
      </Dialog>
    </Page>
  );
}

function Template({ label, hint, value, onChange }: { label: string; hint?: string; value: string; onChange: (value: string) => void }) {
  return (
    <Field label={label} {...(hint && { hint })}>
      {(ids) => (
        <TextArea
          {...ids}
          rows={Math.min(9, value.split("\n").length + 1)}
          spellCheck={false}
          className="font-mono text-xs leading-5"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
