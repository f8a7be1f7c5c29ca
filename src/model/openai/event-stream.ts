import { AppError } from "../../core/error.ts";

/** Longer than any honest line: nothing a provider sends may fill the memory. In characters. */
const LONGEST = 32 * 1024 * 1024;

/**
 * Cuts an event stream into the data of its events. Every character is looked at once, however the text was split on its way:
 * a line is put together only when its end is there.
 */
export function eventStream(take: (data: string) => void): { push(text: string): void; end(): void } {
  let pieces: string[] = []; // of the line that has no end yet
  let length = 0; // of these
  let data: string | undefined; // of the event that has no end yet
  let first = true;

  const check = () => {
    if (length + (data?.length ?? 0) > LONGEST) throw new AppError("model", "The model provider sends more at once than can be taken in");
  };
  const dispatch = () => {
    if (data === undefined) return;
    const whole = data;
    data = undefined;
    take(whole);
  };
  const takeLine = (line: string) => {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text === "") return dispatch();
    if (!text.startsWith("data:")) return; // comments, names and ids mean nothing here
    const value = text.slice(text.charCodeAt(5) === SPACE ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
    check();
  };
  const joined = (last: string) => {
    if (pieces.length === 0) return last;
    const line = pieces.join("") + last;
    pieces = [];
    length = 0;
    return line;
  };

  return {
    push(given) {
      const text = first && given.startsWith("\uFEFF") ? given.slice(1) : given;
      first = false;
      let from = 0;
      for (let to = text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
        takeLine(joined(text.slice(from, to)));
        from = to + 1;
      }
      if (from === text.length) return;
      pieces.push(text.slice(from));
      length += text.length - from;
      check();
    },
    /** Providers forget the empty line behind their last event. */
    end() {
      takeLine(joined(""));
      dispatch();
    },
  };
}

const SPACE = 32;
