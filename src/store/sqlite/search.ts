import { createHash } from "node:crypto";
import type { StoredEvent } from "../../core/event.ts";
import { rows } from "../../core/rows.ts";
import { upcast } from "../../core/upcast.ts";

// Texts are indexed as words, and where a script puts no spaces between its words, as all pairs of neighbouring characters:
// a pair is what most Chinese words are, and any longer one is a phrase of pairs.

/** A full-text index without the texts: they are in the events, whose rows it names. */
export const SAID = `CREATE VIRTUAL TABLE said USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
)`;

export const INDEX = "INSERT INTO said (rowid, text) VALUES (?, ?)";

/** The newest texts with all these words. Of more, the older ones are not looked at: this is for people, who then say more. */
export const FOUND = `SELECT thread FROM event WHERE id IN (SELECT rowid FROM said WHERE said MATCH ? ORDER BY rowid DESC LIMIT 2000)`;

/** Fills the index from the events, with `index_text` below. */
export const BACKFILL = `INSERT INTO said (rowid, text)
  SELECT id, words FROM (SELECT event.id, index_text(event.data, event.v, app, user) AS words FROM event JOIN thread ON thread.id = thread WHERE delta = 0)
  WHERE words IS NOT NULL`;

/** What of an event goes into the index. */
export function indexText(data: string, v: number, app: string, user: string): string | null {
  const event = upcast(JSON.parse(data), v) as StoredEvent;
  const texts = rows(event).flatMap((row) => (row.type === "said" ? [row.text] : []));
  return texts.length === 0 ? null : toIndex(texts.join("\n"), app, user);
}

/** So much of one text is found by its words. */
const LONGEST = 20_000;

/** A text as the index has it, under the names of its app and its user. SQLite finds the words by itself, but not the pairs. */
export function toIndex(text: string, app: string, user: string): string {
  const words = text
    .slice(0, LONGEST)
    .normalize("NFKC")
    .replaceAll(PRIVATE, " ")
    .replaceAll(PACKED, (run) => ` ${[...pairs(run), lastOf(run)].join(" ")} `);
  return `${scope(app)} ${scope(app, user)} ${words}`;
}

/** Each beginning of a word costs what all texts with such words are long, everybody's: behind these the rest is left out. */
const MOST_WORDS = 8;

/** A search as the index is asked for it; undefined where there is no word in it. */
export function toMatch(search: string, app: string, user: string | undefined): string | undefined {
  const phrases = new Set<string>();
  for (const { run, packed } of runs(search)) {
    phrases.add(`"${packed ? pairs(run).join(" ") || run : run}"*`);
    if (phrases.size === MOST_WORDS) break;
  }
  if (phrases.size === 0) return undefined;
  return [`"${user === undefined ? scope(app) : scope(app, user)}"`, ...phrases].join(" AND ");
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const PACKED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}ー]+/gu;

/** Words, and pieces of text that have no spaces inside. */
function* runs(text: string): Generator<{ run: string; packed: boolean }> {
  for (const [word] of text.normalize("NFKC").toLowerCase().matchAll(WORD)) {
    let end = 0;
    for (const { 0: run, index } of word.matchAll(PACKED)) {
      if (index > end) yield { run: word.slice(end, index), packed: false };
      yield { run, packed: true };
      end = index + run.length;
    }
    if (end < word.length) yield { run: word.slice(end), packed: false };
  }
}

function pairs(run: string): string[] {
  const letters = [...run];
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

function lastOf(run: string): string {
  return [...run].at(-1) ?? "";
}

/** Characters that are parts of words to SQLite and of no text here: what begins with one was written by nobody. */
const PRIVATE = /\p{Co}/gu;

/** One word for whose text it is. Nobody can say it: a text under another's name would push theirs out of what is found. */
function scope(...names: string[]): string {
  return `\uE000${createHash("sha1").update(JSON.stringify(names)).digest("hex").slice(0, 16)}`;
}
