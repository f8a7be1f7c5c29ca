/**
 * What several sources give, as it comes. Each is asked for more only when its last item was taken, so at most one item of each
 * lies in memory. Ends with the first source that ends; the others must be ended by whoever began them.
 */
export async function* merge<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const waiting: { item: T; taken: () => void }[] = [];
  let ended = false;
  let failure: { error: unknown } | undefined;
  let wake = () => {};
  const pump = async (source: AsyncIterable<T>) => {
    try {
      for await (const item of source) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push({ item, taken: resolve });
        wake();
        await promise;
        if (ended) return;
      }
    } catch (error) {
      failure ??= { error };
    }
    ended = true;
    wake();
  };
  for (const source of sources) void pump(source);
  try {
    for (;;) {
      const next = waiting.shift();
      if (next) {
        yield next.item;
        next.taken();
        continue;
      }
      if (failure) throw failure.error;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    ended = true;
    for (const { taken } of waiting) taken();
  }
}
