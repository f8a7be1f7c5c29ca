/** Something that ends with a certain text. */
export type Enclosed = {
  /** What of this piece is surely inside, how far it reaches, and with which text it is over, if it is. */
  push(text: string, from: number): { said: string; to: number; over: string | undefined };
  /** What may be the beginning of the end. */
  readonly held: string;
};

const MOST_BLANKS = 64;

/** Everything up to a closing text, or up to one of the others. They may be written in any case, tags with blanks before their bracket. */
export function enclosed(close: string, others: readonly string[] = []): Enclosed {
  const ends = [close, ...others].map((text) => ({ text, lower: text.toLowerCase() }));
  const starts = new Set(ends.map(({ lower }) => lower[0]));
  let held = "";
  /** What is held, in small letters and without the blanks before a bracket. */
  let bare = "";
  return {
    push(text, from) {
      let said = "";
      for (let i = from; i < text.length; i += 1) {
        if (held === "") {
          const start = i;
          while (i < text.length && !starts.has(text[i]?.toLowerCase())) i += 1;
          said += text.slice(start, i);
          if (i === text.length) break;
        }
        const c = text[i] as string;
        held += c;
        if (/\s/.test(c) && held.length - bare.length < MOST_BLANKS && ends.some(({ lower }) => lower === `${bare}>`)) continue;
        bare += c.toLowerCase();
        const over = ends.find(({ lower }) => lower === bare);
        if (over) {
          [held, bare] = ["", ""];
          return { said, to: i + 1, over: over.text };
        }
        if (bare.length < held.length && !ends.some(({ lower }) => lower.startsWith(bare))) {
          // blanks, and then no bracket: what may begin an end is at most this character
          said += held.slice(0, -1);
          held = c;
          bare = c.toLowerCase();
        }
        while (!ends.some(({ lower }) => lower.startsWith(bare))) {
          said += held[0];
          held = held.slice(1);
          bare = bare.slice(1);
        }
      }
      return { said, to: text.length, over: undefined };
    },
    get held() {
      return held;
    },
  };
}
