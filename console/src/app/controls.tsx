import { Languages, Moon, Search, Sparkles, Sun, Wifi, WifiOff } from "lucide-react";
import { useConnection, useMeta } from "../data/hooks.ts";
import { useLanguage, useT } from "../i18n/i18n.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Keys } from "../ui/keys.tsx";
import { Tooltip } from "../ui/tooltip.tsx";
import { openPalette } from "./layers.ts";
import { prefer, useShownTheme } from "./preferences.ts";

/** At the right of every page's header. */
export function Controls() {
  return (
    <div className="flex shrink-0 items-center gap-1">
      <DemoBadge />
      <ConnectionPill />
      <div className="hidden items-center gap-1 md:flex">
        <PaletteButton />
        <LanguageSwitch />
        <ThemeSwitch />
      </div>
    </div>
  );
}

function DemoBadge() {
  const t = useT();
  const meta = useMeta();
  if (!meta?.demo) return null;
  return (
    <Tooltip text={t("shell.demoHint")}>
      <span tabIndex={0} className="rounded-full max-sm:hidden">
        <Badge tone="claim" icon={<Sparkles aria-hidden className="size-3" />}>
          <span className="sr-only sm:not-sr-only">{t("shell.demo")}</span>
        </Badge>
      </span>
    </Tooltip>
  );
}

/** Whether what is on the page is what is on the server, and how far. */
export function ConnectionPill() {
  const t = useT();
  const { state, seq } = useConnection();
  const [word, hint, look] = {
    live: [t("shell.live"), t("shell.liveHint"), "text-good"] as const,
    connecting: [t("shell.connecting"), t("shell.connectingHint"), "text-muted"] as const,
    lost: [t("shell.offline"), t("shell.offlineHint"), "text-bad"] as const,
  }[state];
  const Icon = state === "lost" ? WifiOff : Wifi;
  return (
    <Tooltip text={hint}>
      <span
        tabIndex={0}
        data-testid="connection"
        data-state={state}
        className={cx("flex h-7 items-center gap-1.5 rounded-full px-2 text-xs font-medium", look)}
      >
        <Icon aria-hidden className={cx("size-3.5", state === "connecting" && "animate-breathe")} />
        <span className={cx(state === "live" && "sr-only sm:not-sr-only")}>{word}</span>
        {state === "live" && seq > 0 && (
          <span className="hidden font-normal text-muted tabular-nums lg:inline">#{seq.toLocaleString()}</span>
        )}
      </span>
    </Tooltip>
  );
}

function PaletteButton() {
  const t = useT();
  return (
    <button
      type="button"
      onClick={openPalette}
      className="flex h-8 items-center gap-2 rounded-lg border border-line bg-surface px-2 text-sm text-muted transition-colors hover:bg-hover hover:text-fg"
      aria-haspopup="dialog"
    >
      <Search aria-hidden className="size-3.5" />
      <span className="sr-only xl:not-sr-only">{t("shell.search")}</span>
      <span aria-hidden>
        <Keys keys="mod+k" />
      </span>
    </button>
  );
}

export function LanguageSwitch({ withText = false }: { withText?: boolean }) {
  const t = useT();
  const next = useLanguage() === "en" ? "zh-CN" : "en";
  const change = () => prefer({ language: next });
  if (withText)
    return (
      <Button icon={<Languages aria-hidden className="size-4" />} onClick={change}>
        {next === "en" ? "English" : "中文"}
      </Button>
    );
  return <IconButton label={t("shell.switchLanguage")} icon={<Languages aria-hidden className="size-4.5" />} onClick={change} />;
}

export function ThemeSwitch({ withText = false }: { withText?: boolean }) {
  const t = useT();
  const next = useShownTheme() === "dark" ? "light" : "dark";
  const label = t(next === "dark" ? "shell.toDark" : "shell.toLight");
  const icon = next === "dark" ? <Moon aria-hidden className="size-4.5" /> : <Sun aria-hidden className="size-4.5" />;
  const change = () => prefer({ theme: next });
  if (withText)
    return (
      <Button icon={icon} onClick={change}>
        {label}
      </Button>
    );
  return <IconButton label={label} icon={icon} onClick={change} />;
}
