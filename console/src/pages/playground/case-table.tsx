import { PROFILES, type Profile, parseProfile } from "handback/profiles";
import { Ban, CircleCheck, Type } from "lucide-react";
import { useMemo } from "react";
import { useT } from "../../i18n/i18n.ts";
import { Section } from "../../ui/card.tsx";
import { cx } from "../../ui/cx.ts";
import { SAMPLE_TOOLS, SAMPLES, type Sample } from "./samples.ts";

/** Every case under every profile. What a cell says is worked out here and now, by the code that runs on the server. */
export function CaseTable({
  profile,
  sample,
  onChoose,
}: {
  profile: string;
  sample: string;
  onChoose: (profile: string, sample: string) => void;
}) {
  const t = useT();
  const rows = useMemo(
    () => SAMPLES.map((each) => ({ each, cells: [...PROFILES.values()].map((one) => ({ one, found: outcome(one, each) })) })),
    [],
  );
  return (
    <Section title={t("playground.table")} hint={t("playground.tableHint")}>
      <div className="relative overflow-x-auto" tabIndex={0} role="group" aria-label={t("playground.table")}>
        <table className="w-full border-separate border-spacing-0 text-sm">
          <thead>
            <tr>
              <th scope="col" className="border-b border-line py-2 pr-3 text-left font-medium text-muted">
                {t("playground.case")}
              </th>
              {[...PROFILES.keys()].map((name) => (
                <th
                  key={name}
                  scope="col"
                  className={cx(
                    "border-b border-line px-2 py-2 text-left font-mono text-xs",
                    name === profile ? "text-link" : "text-muted",
                  )}
                >
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ each, cells }) => (
              <tr key={each.id}>
                <th
                  scope="row"
                  className={cx(
                    "border-b border-line py-1 pr-3 text-left font-normal whitespace-nowrap",
                    each.id === sample && "font-semibold text-link",
                  )}
                >
                  {t(each.label)}
                </th>
                {cells.map(({ one, found }) => (
                  <td key={one.name} className="border-b border-line p-0.5">
                    <button
                      type="button"
                      aria-current={one.name === profile && each.id === sample ? "true" : undefined}
                      onClick={() => onChoose(one.name, each.id)}
                      className="flex min-h-7 w-full items-center gap-1.5 rounded-md px-1.5 whitespace-nowrap hover:bg-hover aria-[current]:bg-accent-soft"
                    >
                      <span className="sr-only">
                        {t(each.label)}, {one.name}:
                      </span>
                      <Outcome {...found} />
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

type Found = { calls: number; refused?: string };

function outcome(profile: Profile, { write, cut = false }: Sample): Found {
  const { calls, refused } = parseProfile(profile, write(profile), { tools: SAMPLE_TOOLS, cut });
  return { calls: calls.filter(({ refusal }) => !refusal).length, ...(refused[0] && { refused: refused[0].code }) };
}

function Outcome({ calls, refused }: Found) {
  const t = useT();
  return (
    <>
      {calls > 0 && (
        <span className="flex items-center gap-1 text-good">
          <CircleCheck aria-hidden className="size-3.5" />
          {t("playground.nCalls", { n: calls })}
        </span>
      )}
      {refused && (
        <span className="flex items-center gap-1 text-bad">
          <Ban aria-hidden className="size-3.5" />
          {calls > 0 ? "+1" : t("playground.refusedShort")}
        </span>
      )}
      {calls === 0 && !refused && (
        <span className="flex items-center gap-1 text-muted">
          <Type aria-hidden className="size-3.5" />
          {t("playground.onlyText")}
        </span>
      )}
    </>
  );
}
