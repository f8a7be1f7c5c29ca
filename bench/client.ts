import { connect } from "node:net";

/** What came of one request, in milliseconds since it was sent. */
export type Answer = { firstToken: number; took: number; bytes: number; text: string /** Bytes of the request's body. */; sent: number };

/** The first token in any of the streams: it is followed by others, joined or not. */
const TOKEN = Buffer.from('"token ');
const END = Buffer.from("0\r\n\r\n");

/** Posts JSON over a socket of its own and takes in the answer. Does as little as it can, since it shares the machine with the servers. */
export function post(
  url: string,
  body: object,
  { keep = false, accept = "*/*" }: { keep?: boolean; accept?: string } = {},
): Promise<Answer> {
  const { hostname, port, pathname } = new URL(url);
  const data = Buffer.from(JSON.stringify(body));
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\naccept: ${accept}\r\ncontent-length: ${data.length}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const sent = performance.now();
    const answer: Answer = { firstToken: Number.NaN, took: 0, bytes: 0, text: "", sent: data.length };
    let first = true;
    socket.on("data", (chunk: Buffer) => {
      if (first) {
        first = false;
        if (!chunk.subarray(0, 15).toString().startsWith("HTTP/1.1 200")) reject(new Error(chunk.toString()));
      }
      answer.bytes += chunk.length;
      if (keep) answer.text += chunk.toString();
      if (Number.isNaN(answer.firstToken) && chunk.includes(TOKEN)) answer.firstToken = performance.now() - sent;
      if (chunk.length < END.length || chunk.compare(END, 0, END.length, chunk.length - END.length) !== 0) return;
      answer.took = performance.now() - sent;
      socket.destroy();
      resolve(answer);
    });
    socket.on("error", reject).on("close", () => reject(new Error(`${url} broke off`)));
    socket.write(head);
    socket.write(data);
  });
}

/** Opens a stream and leaves it open; resolves at its first token. Returns how to close it. */
export function open(url: string, body: object): Promise<() => void> {
  const { hostname, port, pathname } = new URL(url);
  const data = Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.on("error", reject).on("data", (chunk: Buffer) => {
      if (chunk.includes(TOKEN)) resolve(() => socket.destroy());
    });
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${data.length}\r\n\r\n`,
    );
    socket.write(data);
  });
}
