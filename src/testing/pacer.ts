/** Calls `work` at the time `at` (of `performance.now()`) or as soon after it as it can, and tells it that time. */
export type Pacer = (at: number, work: (at: number) => void) => void;

/** One timer for any number of streams. One that plans its next piece for `at + ms` keeps its pace however late a call was. */
export function pacer(): Pacer {
  const slots = new Map<number, { at: number; work: (at: number) => void }[]>(); // by whole millisecond
  let done = 0;
  let running = false;
  const tick = () => {
    const now = Math.floor(performance.now());
    while (done < now) {
      const due = slots.get(++done);
      if (!due) continue;
      slots.delete(done);
      for (const { at, work } of due) work(at);
    }
    running = slots.size > 0;
    if (running) setTimeout(tick, 1);
  };
  return (at, work) => {
    if (!running) {
      running = true;
      done = Math.floor(performance.now());
      setTimeout(tick, 1);
    }
    const slot = Math.max(done + 1, Math.ceil(at));
    const due = slots.get(slot);
    if (due) due.push({ at, work });
    else slots.set(slot, [{ at, work }]);
  };
}
