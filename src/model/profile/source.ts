/** The model's own words since the last cut, though they come in pieces. */
export type Source = {
  /** The next piece: `text` from `from` on. */
  feed(text: string, from: number): void;
  /** Takes the piece up to `to`. */
  take(to: number): void;
  /** The place of an index into the present piece. */
  at(i: number): number;
  /** The words up to a place, or all that were taken. They are gone then. */
  cut(end?: number): string;
  /** The place behind what was taken. */
  readonly end: number;
};

export function openSource(): Source {
  let parts: string[] = [];
  let end = 0;
  let piece = "";
  let from = 0;
  return {
    feed(text, at) {
      piece = text;
      from = at;
    },
    take(to) {
      if (to <= from) return;
      parts.push(piece.slice(from, to));
      end += to - from;
      from = to;
    },
    at: (i) => end + i - from,
    cut(to = end) {
      if (to > end) this.take(from + to - end);
      const all = parts.join("");
      const words = all.slice(0, all.length - (end - to));
      parts = words.length < all.length ? [all.slice(words.length)] : [];
      return words;
    },
    get end() {
      return end;
    },
  };
}
