import { Monitor, Moon, Sun } from "lucide-react";
import { type ReactNode, useState } from "react";
import { openShortcuts } from "../../app/layers.ts";
import { type Language, type Preferences, prefer, usePreferences } from "../../app/preferences.ts";
import { useLanguage, useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Switch } from "../../ui/field.tsx";
import { Segmented } from "../../ui/tabs.tsx";

/** How this page looks and makes itself heard, in this browser. */
export function Appearance() {
  const t = useT();
  const language = useLanguage();
  const { theme, keys, notify } = usePreferences();
  const [refused, setRefused] = useState(false);
  const allow = async (wanted: boolean) => {
    const granted = wanted && "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
    setRefused(wanted && !granted);
    prefer({ notify: granted });
  };
  const choice = (icon: ReactNode, text: string) => (
    <>
      {icon}
      {text}
    </>
  );
  return (
    <>
      <Section title={t("settings.appearance")} hint={t("settings.appearanceHint")}>
        <div className="flex flex-col gap-5">
          <Row label={t("shell.theme")}>
            <Segmented<Preferences["theme"]>
              label={t("shell.theme")}
              value={theme}
              onChange={(next) => prefer({ theme: next })}
              options={[
                { id: "system", label: choice(<Monitor aria-hidden className="size-3.5" />, t("shell.themeSystem")) },
                { id: "light", label: choice(<Sun aria-hidden className="size-3.5" />, t("shell.themeLight")) },
                { id: "dark", label: choice(<Moon aria-hidden className="size-3.5" />, t("shell.themeDark")) },
              ]}
            />
          </Row>
          <Row label={t("shell.language")}>
            <Segmented<Language>
              label={t("shell.language")}
              value={language}
              onChange={(next) => prefer({ language: next })}
              options={[
                { id: "zh-CN", label: <span lang="zh-CN">简体中文</span> },
                { id: "en", label: <span lang="en">English</span> },
              ]}
            />
          </Row>
        </div>
      </Section>
      <Section title={t("settings.behaviour")}>
        <div className="flex flex-col gap-5">
          <Switch
            label={t("settings.notify")}
            hint={refused ? t("settings.notifyRefused") : t("settings.notifyHint")}
            checked={notify}
            onChange={(wanted) => void allow(wanted)}
          />
          <Switch label={t("settings.keys")} hint={t("settings.keysHint")} checked={keys} onChange={(wanted) => prefer({ keys: wanted })} />
          <div>
            <Button onClick={openShortcuts}>{t("shell.shortcuts")}</Button>
          </div>
        </div>
      </Section>
    </>
  );
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
      <span className="font-medium">{label}</span>
      {children}
    </div>
  );
}
