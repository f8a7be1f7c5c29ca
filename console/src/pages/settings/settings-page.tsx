import type { ReactNode } from "react";
import { Page } from "../../app/page.tsx";
import { useParam } from "../../app/use-param.ts";
import { type Key, useT } from "../../i18n/i18n.ts";
import { cx } from "../../ui/cx.ts";
import { About } from "./about.tsx";
import { Access } from "./access.tsx";
import { Appearance } from "./appearance.tsx";
import { Connect } from "./connect.tsx";
import { Grants } from "./grants.tsx";
import { Tools } from "./tools.tsx";

const SECTIONS: { id: string; label: Key; show: () => ReactNode }[] = [
  { id: "connect", label: "settings.connect", show: () => <Connect /> },
  { id: "tools", label: "settings.tools", show: () => <Tools /> },
  { id: "grants", label: "settings.grants", show: () => <Grants /> },
  { id: "appearance", label: "settings.appearance", show: () => <Appearance /> },
  { id: "access", label: "settings.access", show: () => <Access /> },
  { id: "about", label: "settings.about", show: () => <About /> },
];

/** How to speak to this server, what it may do without asking, and how this page looks. */
export default function SettingsPage() {
  const t = useT();
  const [param, setParam] = useParam("section");
  const section = SECTIONS.find(({ id }) => id === param) ?? SECTIONS[0];
  return (
    <Page title={t("shell.settings")}>
      <div className="relative min-h-0 flex-1 overflow-auto -outline-offset-2" tabIndex={0} role="group" aria-label={t("shell.settings")}>
        <div className="mx-auto flex max-w-5xl flex-col gap-5 p-4 md:flex-row md:gap-8 md:p-6">
          <nav
            aria-label={t("shell.settings")}
            className="-mx-1 flex shrink-0 gap-1 overflow-x-auto px-1 md:sticky md:top-6 md:w-44 md:flex-col md:self-start"
          >
            {SECTIONS.map(({ id, label }) => (
              <button
                key={id}
                type="button"
                aria-current={id === section?.id ? "true" : undefined}
                onClick={() => setParam(id, { replace: false })}
                className={cx(
                  "h-9 shrink-0 rounded-lg px-3 text-left whitespace-nowrap transition-colors",
                  id === section?.id ? "bg-accent-soft font-medium text-link" : "text-muted hover:bg-hover hover:text-fg",
                )}
              >
                {t(label)}
              </button>
            ))}
          </nav>
          <div className="flex min-w-0 flex-1 flex-col gap-5">{section?.show()}</div>
        </div>
      </div>
    </Page>
  );
}
