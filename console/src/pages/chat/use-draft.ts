import { useEffect, useState } from "react";

/** What was typed and not sent is still there after a reload. */
export function useDraft(name: string): [string, (text: string) => void] {
  const key = `handback.draft.${name}`;
  const [text, setText] = useState(() => read(key));
  useEffect(() => {
    const timer = setTimeout(() => write(key, text), 250);
    return () => clearTimeout(timer);
  }, [key, text]);
  return [
    text,
    (next) => {
      setText(next);
      if (next === "") write(key, ""); // sent: it must not come back, even if the page is left right now
    },
  ];
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // Storage is off or full: a draft is not worth a broken page.
  }
}
