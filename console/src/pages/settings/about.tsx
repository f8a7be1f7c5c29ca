import { Logo } from "../../app/logo.tsx";
import { API_ROOT } from "../../app/place.ts";
import { useMeta } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Section } from "../../ui/card.tsx";

/** What is running here, and under which licence. */
export function About() {
  const t = useT();
  const meta = useMeta();
  const link = "text-link underline underline-offset-2";
  return (
    <Section title={t("settings.about")}>
      <div className="flex flex-col gap-5">
        <div className="flex items-center gap-4">
          <Logo className="size-12" />
          <div>
            <p className="text-lg font-semibold">Handback {meta?.version}</p>
            <p className="text-muted">{t("settings.claim")}</p>
          </div>
        </div>
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2 text-sm">
          <dt className="text-muted">{t("settings.model")}</dt>
          <dd>{meta?.demo ? t("shell.demoHint") : t("settings.configured")}</dd>
          <dt className="text-muted">{t("settings.doors")}</dt>
          <dd className="font-mono text-xs leading-5">
            {Object.entries(meta?.doors ?? {}).map(([name, path]) => (
              <div key={name}>
                {name} {path}
              </div>
            ))}
          </dd>
          <dt className="text-muted">{t("settings.api")}</dt>
          <dd className="flex gap-4">
            <a className={link} href={`${API_ROOT}/reference`} target="_blank" rel="noopener">
              {t("settings.reference")}
            </a>
            <a className={link} href={`${API_ROOT}/openapi.json`} target="_blank" rel="noopener">
              openapi.json
            </a>
          </dd>
          <dt className="text-muted">{t("settings.licence")}</dt>
          <dd className="flex gap-4">
            <span>Apache-2.0</span>
            <a className={link} href="licenses.md" target="_blank" rel="noopener">
              {t("settings.licences")}
            </a>
          </dd>
        </dl>
      </div>
    </Section>
  );
}
