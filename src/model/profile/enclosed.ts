/** Something that ends with a certain text. */
export type Enclosed = {
  /** What of this piece is surely inside, how far it reaches, and with which text it is over, if it is. */
  push(text: string, from: number): { said: string; to: number; over: string | undefined };
  /** What may be the beginning of the end. */
  readonly held: string;
};

/** Everything up to a closing text, or up to one of the others. They may be written in any case. */
export function enclosed(close: string, others: readonly string[] = []): Enclosed {
  const ends = [close, ...others];
  const starts = new Set(ends.map((end) => end[0]?.toLowerCase()));
  let held = "";
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
        held += text[i];
        const over = ends.find((end) => end.toLowerCase() === held.toLowerCase());
        if (over !== undefined) {
          held = "";
          return { said, to: i + 1, over };
        }
        while (!ends.some((end) => end.toLowerCase().startsWith(held.toLowerCase()))) {
          said += held[0];
          held = held.slice(1);
        }
      }
      return { said, to: text.length, over: undefined };
    },
    get held() {
      return held;
    },
  };
}
