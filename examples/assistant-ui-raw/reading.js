import { profileMachine } from "handback/profiles";
import { useState } from "react";

/** What is text and what are calls in a message that is still being written. Each piece is read once, however often React renders. */
export function useReading(profile, tools, words, isWritten) {
  const [reading] = useState(() => ({
    machine: profileMachine(profile, tools),
    seen: 0,
    ended: false,
    text: "",
    calls: new Map(),
    refused: [],
  }));
  if (words.length > reading.seen && !reading.ended) {
    take(reading, reading.machine.push(words.slice(reading.seen)));
    reading.seen = words.length;
  }
  if (isWritten && !reading.ended) {
    reading.ended = true;
    take(reading, reading.machine.finish());
  }
  return reading;
}

function take(reading, found) {
  for (const event of found) {
    if (event.type === "text") reading.text += event.delta;
    else if (event.type === "started") reading.calls.set(event.id, { id: event.id, name: event.name });
    else if (event.type === "called") reading.calls.set(event.id, event);
    else if (event.type === "refused") {
      reading.calls.delete(event.id);
      reading.refused.push(event.refusal.message);
    }
  }
}
