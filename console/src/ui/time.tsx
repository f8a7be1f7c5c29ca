import { useSyncExternalStore } from "react";
import type { Language } from "../app/preferences.ts";
import { useLanguage, useT } from "../i18n/i18n.ts";
import { cx } from "./cx.ts";

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** The time, told every second: one timer for all clocks of the page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const each of listeners) each();
    }, 1_000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How long ago, with the exact time behind it. */
export function RelativeTime({ at, className }: { at: number | string; className?: string }) {
  const language = useLanguage();
  const t = useT();
  const current = useNow();
  const time = new Date(at);
  const seconds = Math.round((current - time.getTime()) / 1_000);
  return (
    <time dateTime={time.toISOString()} title={time.toLocaleString(language)} className={cx("whitespace-nowrap tabular-nums", className)}>
      {seconds < 5 ? t("ui.justNow") : ago(seconds, language)}
    </time>
  );
}

const UNITS = [
  [60, 1, "second"],
  [3_600, 60, "minute"],
  [86_400, 3_600, "hour"],
  [2_592_000, 86_400, "day"],
  [31_536_000, 2_592_000, "month"],
  [Number.POSITIVE_INFINITY, 31_536_000, "year"],
] as const;

function ago(seconds: number, language: Language): string {
  const [, size, unit] = UNITS.find(([below]) => seconds < below) ?? UNITS[5];
  return new Intl.RelativeTimeFormat(language, { style: "narrow" }).format(-Math.floor(seconds / size), unit);
}

/** A span of time in a few characters: `340 ms`, `12 s`, `4 min 05 s`. */
export function durationText(ms: number, language: Language): string {
  const unit = (value: number, name: "millisecond" | "second" | "minute" | "hour" | "day", digits = 0) =>
    value.toLocaleString(language, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits });
  if (ms < 1_000) return unit(Math.max(0, Math.round(ms)), "millisecond");
  const seconds = ms / 1_000;
  if (seconds < 10) return unit(seconds, "second", 1);
  if (seconds < 60) return unit(Math.floor(seconds), "second");
  if (seconds < 3_600) return `${unit(Math.floor(seconds / 60), "minute")} ${unit(Math.floor(seconds % 60), "second")}`;
  if (seconds < 86_400) return `${unit(Math.floor(seconds / 3_600), "hour")} ${unit(Math.floor((seconds % 3_600) / 60), "minute")}`;
  return `${unit(Math.floor(seconds / 86_400), "day")} ${unit(Math.floor((seconds % 86_400) / 3_600), "hour")}`;
}

/** How long something took, or has been taking since `since`. */
export function Duration({ ms, since, className }: { ms?: number | undefined; since?: number | undefined; className?: string }) {
  const language = useLanguage();
  return (
    <span className={cx("whitespace-nowrap tabular-nums", className)}>
      {ms === undefined ? <Since since={since ?? Date.now()} /> : durationText(ms, language)}
    </span>
  );
}

function Since({ since }: { since: number }) {
  const language = useLanguage();
  return durationText(Math.floor((useNow() - since) / 1_000) * 1_000, language);
}

/** How long until a deadline. Amber becomes red in the last tenth minute; the words say the same. */
export function Countdown({ to, className }: { to: number | string; className?: string }) {
  const t = useT();
  const language = useLanguage();
  const left = new Date(to).getTime() - useNow();
  if (left <= 0) return <span className={cx("text-muted", className)}>{t("ui.expired")}</span>;
  const shown = durationText(Math.ceil(left / 1_000) * 1_000, language);
  return (
    <span className={cx("whitespace-nowrap tabular-nums", left < 10_000 ? "font-medium text-bad" : "text-wait", className)}>
      {t("ui.expiresIn", { time: shown })}
    </span>
  );
}
