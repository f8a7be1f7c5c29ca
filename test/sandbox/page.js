import { createSandbox } from "../../src/client/sandbox/sandbox.ts";

/** What an attack would want to read or write here. */
// biome-ignore lint/suspicious/noDocumentCookie: one secret in the old place
document.cookie = "secret=cookie";
localStorage.setItem("secret", "stored");
globalThis.secret = "global";

/** The longest time this page did nothing, which is what a person feels. */
let last = performance.now();
let longest = 0;
setInterval(() => {
  const now = performance.now();
  longest = Math.max(longest, now - last);
  last = now;
}, 10);

const origin = new URLSearchParams(location.search).get("origin") ?? undefined;

globalThis.sandboxOf = (options) => createSandbox({ origin, ...options });

/** Runs code, and says what came of it and how this page fared meanwhile. */
globalThis.attempt = async (code, options) => {
  const sandbox = sandboxOf(options);
  longest = 0;
  const start = performance.now();
  const result = await sandbox.run(code);
  const ms = Math.round(performance.now() - start);
  await new Promise((resolve) => setTimeout(resolve, 50)); // what was posted meanwhile has to go through here, too
  return { result, ms, longest: Math.round(longest), frames: document.querySelectorAll("iframe").length };
};

document.body.append("ready");
