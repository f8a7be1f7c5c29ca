import { useSyncExternalStore } from "react";
import { type Language, language, onPreferences } from "../app/preferences.ts";
import type { en } from "./en/all.ts";
import type { Entry } from "./entry.ts";

type Sections = typeof en;

/** The name of a text: `section.name`. A name that is not in the dictionary does not compile. */
export type Key = { [S in keyof Sections & string]: `${S}.${keyof Sections[S] & string}` }[keyof Sections & string];

/** What stands for the `{names}` in a text. `n` also chooses between one and many. */
export type Values = Record<string, string | number>;

export type Translate = (key: Key, values?: Values) => string;

const LOAD: Record<Language, () => Promise<Record<string, Record<string, Entry>>>> = {
  en: async () => (await import("./en/all.ts")).en,
  "zh-CN": async () => (await import("./zh/all.ts")).zh,
};

let shown: Language = language();
let texts: Record<string, Record<string, Entry>> = {};
let plural = new Intl.PluralRules(shown);
const listeners = new Set<() => void>();

/** Fetches the texts of the language that is wanted. Before the first paint, and again when somebody chooses another. */
export async function loadLanguage(): Promise<void> {
  const wanted = language();
  const loaded = await LOAD[wanted]();
  if (wanted !== language()) return; // chosen differently meanwhile
  texts = loaded;
  shown = wanted;
  plural = new Intl.PluralRules(wanted);
  translate = make();
  document.documentElement.lang = wanted;
  for (const listener of listeners) listener();
}

onPreferences(() => {
  if (language() !== shown) void loadLanguage();
});

/** Looks texts up, in a component: it is drawn again when the language changes. */
export function useT(): Translate {
  return useSyncExternalStore(subscribe, () => translate);
}

/** The language the page is in, for `Intl`. */
export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, () => shown);
}

let translate = make();

function make(): Translate {
  return (key, values = {}) => {
    const [section = "", name = ""] = key.split(".", 2);
    const entry = texts[section]?.[name] ?? key;
    const text = typeof entry === "string" ? entry : entry[plural.select(Number(values["n"])) === "one" ? "one" : "other"];
    return text.replace(/\{(\w+)\}/g, (whole, word: string) => (word in values ? format(values[word] ?? "") : whole));
  };
}

function format(value: string | number): string {
  return typeof value === "number" ? value.toLocaleString(shown) : value;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
