import { useEffect, useRef } from "react";
import { preferences } from "./preferences.ts";

/** What keys do: `"mod+k"`, `"g i"`, `"shift+a"`, `"/"`. Single keys are off in text fields and where a person has turned them off. */
export type KeyMap = Record<string, ((event: KeyboardEvent) => void) | undefined>;

const SEQUENCE_MS = 1_200;

/** Listens for keys while the component is there. The latest component wins, so a page may take over a key. */
export function useKeys(keys: KeyMap, enabled = true): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    if (!enabled) return;
    const layer = () => latest.current;
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, [enabled]);
}

const layers: (() => KeyMap)[] = [];
let before = { key: "", at: 0 };

addEventListener("keydown", (event) => {
  // 229 is a key that an input method has taken; acting on it would break Chinese and Japanese typing.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  const [target] = event.composedPath(); // also inside of an editor's shadow
  const chord = chordOf(event);
  const typing = target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
  const single = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (single && (typing || !preferences().keys || document.querySelector("dialog[open]") || event.repeat)) return;
  const sequence = event.timeStamp - before.at < SEQUENCE_MS ? `${before.key} ${chord}` : "";
  before = { key: chord, at: event.timeStamp };
  for (const name of [sequence, chord]) {
    const act = name && layers.findLast((layer) => layer()[name])?.()[name];
    if (!act) continue;
    before = { key: "", at: 0 };
    event.preventDefault();
    act(event);
    return;
  }
});

function chordOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key.toLowerCase().replace("escape", "esc");
  // A sign such as ? is the same whether or not the keyboard needs Shift for it.
  const shift = event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key));
  return [(event.ctrlKey || event.metaKey) && "mod", event.altKey && "alt", shift && "shift", key].filter(Boolean).join("+");
}
