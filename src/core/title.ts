const TITLE_LENGTH = 80;

/** What a thread is called until somebody names it: the beginning of its first message. */
export function titleOf(content: string | { type: string; text?: string }[]): string {
  const text = typeof content === "string" ? content : (content.find((part) => part.type === "text")?.text ?? "");
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > TITLE_LENGTH ? `${line.slice(0, TITLE_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : line;
}
