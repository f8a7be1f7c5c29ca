import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy on loopback that cuts connections when it is told to. */
export type Cutter = AsyncDisposable & {
  url: string;
  /** How many bytes the next connections may carry back before they are cut. */
  cutAfter: () => number;
  /** Connections it has cut. */
  cuts: number;
  /** Cuts everything now. */
  cut(): void;
};

/** Stands between a client and a server, and loses their connections. */
export async function cutter(target: string): Promise<Cutter> {
  const { port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), "127.0.0.1");
    let left = self.cutAfter();
    const hangUp = () => {
      near.destroy();
      far.destroy();
      open.delete(near);
    };
    open.add(near);
    near.on("error", hangUp).on("close", hangUp);
    far.on("error", hangUp).on("close", hangUp);
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk: Buffer) => {
      near.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      self.cuts += 1;
      near.end();
      far.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const self: Cutter = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAfter: () => Number.POSITIVE_INFINITY,
    cuts: 0,
    cut() {
      for (const socket of open) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      self.cut();
    },
  };
  return self;
}
