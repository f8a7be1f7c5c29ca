import { useSyncExternalStore } from "react";

/** What a person has chosen, kept in this browser. What they have not chosen follows the system. */
export type Preferences = {
  theme: "system" | "light" | "dark";
  language?: Language;
  /** Single keys such as `g i`; those with Ctrl or ⌘ always work. */
  keys: boolean;
  /** A notification of the desktop for new calls that wait for somebody. */
  notify: boolean;
  /** The dock beside a thread: how wide, and which panel was open last (`""` is closed). */
  dockWidth: number;
  dock?: string;
};
export type Language = "en" | "zh-CN";

const NAME = "handback.preferences";
const DEFAULTS: Preferences = { theme: "system", keys: true, notify: false, dockWidth: 440 };

let current = read();
const listeners = new Set<() => void>();
const systemDark = matchMedia("(prefers-color-scheme: dark)");

export function preferences(): Preferences {
  return current;
}

/** Changes some of them, here and in every other tab. */
export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(NAME, JSON.stringify(current));
  } catch {
    // Storage is off: they hold until the page is closed.
  }
  tell();
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreferences, preferences);
}

export function onPreferences(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Light or dark, now. */
export function shownTheme(): "light" | "dark" {
  return current.theme === "system" ? (systemDark.matches ? "dark" : "light") : current.theme;
}

export function useShownTheme(): "light" | "dark" {
  return useSyncExternalStore(onPreferences, shownTheme);
}

/** The language chosen, or the first the browser asks for that we speak. */
export function language(): Language {
  return current.language ?? (/^zh\b/i.test(navigator.languages[0] ?? navigator.language) ? "zh-CN" : "en");
}

function tell(): void {
  document.documentElement.dataset["theme"] = shownTheme();
  for (const listener of listeners) listener();
}

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
  } catch {
    return DEFAULTS;
  }
}

systemDark.addEventListener("change", tell);
addEventListener("storage", ({ key }) => {
  if (key !== NAME) return;
  current = read();
  tell();
});
