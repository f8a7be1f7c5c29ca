import { createHash } from "node:crypto";
import { listen, type Site } from "./site.ts";

/** The sandbox as this server serves it, but with everything left in its worker: only the walls hold. */
export async function withoutCurtains(url: string): Promise<Site> {
  const real = await fetch(`${url}/sandbox`);
  const page = (await real.text()).replace(/const TAKEN = \[.*?\];/, "const TAKEN = [];");
  const script = /<script>(?<script>.*)<\/script>/s.exec(page)?.groups?.["script"] ?? "";
  const hash = createHash("sha256").update(script).digest("base64");
  const headers = Object.fromEntries(real.headers);
  const policy = String(headers["content-security-policy"]).replace(/'sha256-[^']*'/, `'sha256-${hash}'`);
  if (!page.includes("const TAKEN = [];") || !policy.includes(hash)) throw new Error("The sandbox's frame has changed: change this, too");
  delete headers["content-length"];
  return listen((_, response) => void response.writeHead(200, { ...headers, "content-security-policy": policy }).end(page));
}

/** A frame that is on nobody's side: what stands where the sandbox should be. */
export function hostileFrame(script: string): Promise<Site> {
  return listen((_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(`<script>${script}</script>`));
}

/** As much of the sandbox's manners as a hostile frame needs. */
export const POLITE = `
  const ready = () => parent.postMessage("handback sandbox " + location.hash.slice(1), "*");
  const started = new Promise((resolve) => addEventListener("message", (event) => resolve(event.ports[0]), { once: true }));
`;
