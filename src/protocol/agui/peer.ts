/** The kinds of AG-UI client we tell apart: those that name a protocol version (1.0 and later) and those before. */
export type Peer = "agui:0" | "agui:1";

export function peerOf(protocolVersion: string | undefined): Peer {
  return protocolVersion === undefined ? "agui:0" : "agui:1";
}
