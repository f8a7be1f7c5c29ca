/**
 * Where the sandbox's frame is, for a page of this address. It has to be on another site, so that the browser gives it another process:
 * on this machine `127.0.0.1` stands in for `localhost` and the other way round; elsewhere `origin` must name one.
 */
export function frameUrl(page: string, { origin, path = "/sandbox" }: { origin?: string | undefined; path?: string | undefined }): string {
  const here = new URL(page);
  const there = new URL(path, toOrigin(origin ?? here.origin));
  if (there.hostname !== here.hostname) return there.href;
  const other = otherName(here.hostname);
  if (other === undefined) {
    throw new Error(`The sandbox must be on another site than ${here.origin}: set sandbox.origin on the server, or origin here`);
  }
  there.hostname = other;
  return there.href;
}

function toOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`origin ${text} must look like https://sandbox.example.net`);
  return url.origin;
}

/** The same machine under a name of another site. */
function otherName(hostname: string): string | undefined {
  if (/^(.+\.)?localhost$/.test(hostname)) return "127.0.0.1";
  return /^127(\.\d{1,3}){3}$|^\[::1\]$/.test(hostname) ? "localhost" : undefined;
}
