/** What should stand where a text stops being JSON. */
export type Expected = "value" | "key" | "colon" | "comma" | "end" | "string";

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them in a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const ATOM = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Where a text stops being JSON, and what should stand there. Browsers know it, too, but most of them do not say. */
export function scanJson(text: string): { from: number; expected: Expected } | undefined {
  let at = 0;
  const open: ("}" | "]")[] = [];
  let state: "value" | "key" | "after" = "value";
  const space = () => {
    while (/[ \t\n\r]/.test(text[at] ?? "")) at += 1;
  };
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found !== undefined;
  };
  for (;;) {
    space();
    const char = text[at];
    if (state === "after") {
      const close = open.at(-1);
      if (close === undefined) return char === undefined ? undefined : { from: at, expected: "end" };
      if (char === close) {
        open.pop();
        at += 1;
      } else if (char === ",") {
        at += 1;
        state = close === "}" ? "key" : "value";
      } else return { from: at, expected: "comma" };
    } else if (state === "key") {
      if (!take(STRING)) return { from: at, expected: char === '"' ? "string" : "key" };
      space();
      if (text[at] !== ":") return { from: at, expected: "colon" };
      at += 1;
      state = "value";
    } else if (char === "{" || char === "[") {
      at += 1;
      space();
      const close = char === "{" ? "}" : "]";
      if (text[at] === close) {
        at += 1;
        state = "after";
      } else {
        open.push(close);
        state = char === "{" ? "key" : "value";
      }
    } else if (take(STRING) || take(ATOM)) state = "after";
    else return { from: at, expected: char === '"' ? "string" : "value" };
  }
}
