import type { ToolSpec } from "../../core/event.ts";
import type { Found } from "./calls.ts";
import { messageReader } from "./message-reader.ts";
import type { Profile } from "./profile.ts";

/** Finds calls, thoughts and inventions in what a model writes, in pieces of any size: each character is looked at once. */
export type Machine = {
  push(text: string): Found[];
  /** The model has stopped. `cut`: it did not want to. */
  finish(options?: { cut?: boolean }): Found[];
};

/** A machine for one message. */
export function profileMachine({ syntax }: Profile, tools: readonly ToolSpec[]): Machine {
  const reader = messageReader(syntax, tools, emit);
  let found: Found[] = [];
  /** Half of a character whose other half comes with the next piece. */
  let carry = "";

  return {
    push(text) {
      const all = carry + text;
      const last = all.charCodeAt(all.length - 1);
      carry = last >= 0xd800 && last <= 0xdbff ? all.slice(-1) : "";
      reader.feed(carry === "" ? all : all.slice(0, -1));
      return flush();
    },
    finish({ cut = false } = {}) {
      reader.feed(carry);
      reader.end(cut);
      return flush();
    },
  };

  function flush(): Found[] {
    reader.flush();
    const all = found;
    found = [];
    return all;
  }

  function emit(event: Found): void {
    const last = found.at(-1);
    if ((event.type === "text" || event.type === "reasoning") && last?.type === event.type) last.delta += event.delta;
    else found.push(event);
  }
}
