const ONE_LINE = 68;

/** JSON as a person reads it: on one line where that is short, over several where it is not. */
export function jsonText(value: unknown): string {
  const long = JSON.stringify(value, null, 2) ?? "";
  if (long.length > ONE_LINE * 2) return long;
  const short = long.replace(/\n\s*/g, " ");
  return short.length <= ONE_LINE ? short : long;
}
