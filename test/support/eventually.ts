/** Waits for something that happens by itself, without letting the server's time pass. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const giveUp = performance.now() + 5_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > giveUp) throw new Error(`It never happened: ${look}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
