const WORDS = new Map<string, boolean | null>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
  ["undefined", null],
]);

/** What a word without quotes stands for, in JSON, JavaScript or Python. Most stand for nothing. */
export function wordValue(word: string): number | boolean | null | undefined {
  return WORDS.has(word) ? WORDS.get(word) : toNumber(word);
}

function toNumber(word: string): number | undefined {
  if (!/^[+-]?(?:0x[\da-f]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i.test(word)) return undefined;
  const sign = word.startsWith("-") ? -1 : 1;
  const value = sign * Number(word.replace(/^[+-]/, "").replaceAll("_", ""));
  return Number.isFinite(value) ? value : undefined;
}
