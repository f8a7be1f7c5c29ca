import type { ReactNode } from "react";

export type CodeLanguage = "json" | "js" | "sh" | "xml" | "text";

const WORDS =
  "await|async|break|case|catch|class|const|continue|default|do|else|export|finally|for|from|function|if|import|in|instanceof|let|new|of|return|switch|throw|try|typeof|var|while|yield|true|false|null|undefined";

/** What each language colours, in this order. Good enough to read by; nothing depends on it. */
const RULES: Record<CodeLanguage, RegExp | undefined> = {
  json: /(?<key>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\\n]|\\.)*")|(?<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>\b(?:true|false|null)\b)/g,
  js: new RegExp(
    `(?<comment>//[^\\n]*|/\\*[^]*?\\*/)|(?<string>"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`)|(?<number>\\b\\d[\\d_]*(?:\\.\\d+)?\\b)|(?<word>\\b(?:${WORDS})\\b)`,
    "g",
  ),
  sh: /(?<comment>(?:^|(?<=\s))#[^\n]*)|(?<string>"(?:[^"\\]|\\.)*"|'[^']*')|(?<word>(?<=^|\s)(?:curl|npm|npx|node|export)(?=\s))|(?<key>(?<=\s)--?[\w-]+)/gm,
  xml: /(?<comment><!--[\s\S]*?-->)|(?<key><\/?[\w:-]+|\/?>)|(?<string>"[^"\n]*")/g,
  text: undefined,
};

const COLOURS: Record<string, string> = {
  key: "text-(--code-key)",
  string: "text-(--code-string)",
  number: "text-(--code-number)",
  word: "text-(--code-word)",
  comment: "text-(--code-comment) italic",
};

/** Code with its colours. Long code stays plain: colours are not worth a slow page. */
export function highlight(code: string, language: CodeLanguage): ReactNode {
  const rule = RULES[language];
  if (!rule || code.length > 20_000) return code;
  const pieces: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(rule)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    if (match.index > end) pieces.push(code.slice(end, match.index));
    pieces.push(
      <span key={match.index} className={COLOURS[kind ?? ""]}>
        {match[0]}
      </span>,
    );
    end = match.index + match[0].length;
  }
  pieces.push(code.slice(end));
  return pieces;
}
