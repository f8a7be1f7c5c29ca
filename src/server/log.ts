import { type Clock, systemClock } from "../core/clock.ts";

/** One thing that happened, in ids, sizes, codes and durations. What people and models said never goes in. */
export type LogLine = { event: string; [field: string]: string | number | boolean | undefined };

/** Where the server tells its operator what happened. */
export type Log = (line: LogLine) => void;

/** One JSON object per line, for machines. */
export function jsonLog(write: (text: string) => void, clock: Clock = systemClock): Log {
  return (line) => write(`${JSON.stringify({ at: new Date(clock.now()).toISOString(), ...simple(line) })}\n`);
}

/** One short line each, for a person at a terminal; `colours` belongs to a TTY only. */
export function devLog(write: (text: string) => void, colours = false, clock: Clock = systemClock): Log {
  const dim = (text: string) => (colours ? `\x1b[2m${text}\x1b[22m` : text);
  const red = (text: string) => (colours ? `\x1b[31m${text}\x1b[39m` : text);
  return (line) => {
    const { event, ...fields } = simple(line);
    const name = /fail|error/.test(String(event)) ? red(String(event)) : String(event);
    const pairs = Object.entries(fields).map(
      ([field, value]) => `${dim(`${field}=`)}${/\s/.test(String(value)) ? JSON.stringify(value) : value}`,
    );
    write(`${[dim(new Date(clock.now()).toISOString().slice(11, 19)), name, ...pairs].join(" ")}\n`);
  };
}

/** For tests and for embedders who want no log. */
export const silentLog: Log = () => {};

const LONGEST = 300;
// Control characters (C0, C1) and those that turn or break a line on a terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get through
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g;
const SECRET = /\b(sk-|whsec_|Bearer\s+|Basic\s+|eyJ|[a-z]{2,12}_[\w-]{1,64}\.)[\w.~+/=-]{6,}/gi;

/** The line without values that are not plain, are secret by their looks, or would not fit on it. */
function simple(line: LogLine): LogLine {
  const kept: LogLine = { event: clean(line.event) };
  for (const [field, value] of Object.entries(line)) {
    if (typeof value === "string") kept[clean(field)] = clean(value);
    else if (typeof value === "number" || typeof value === "boolean") kept[clean(field)] = value;
  }
  return kept;
}

function clean(text: string): string {
  const short = text
    .slice(0, LONGEST * 2)
    .replace(UNPRINTABLE, " ")
    .replace(SECRET, "$1***");
  return short.length > LONGEST ? `${short.slice(0, LONGEST)}…` : short;
}
