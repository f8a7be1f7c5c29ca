/** This tab, also after a reload. */
export const tab = sessionStorage["tab"] ?? crypto.randomUUID();
sessionStorage["tab"] = tab;

/**
 * Whether this tab may run the call. Of several tabs one may; a tab that was reloaded while it ran the call still may.
 * Without it every open tab runs the call, and the first result counts.
 */
export async function mayRun(callId) {
  const mine = sessionStorage[`claim ${callId}`];
  if (mine !== undefined && (await post(callId, "heartbeat", { claim: Number(mine), seconds: 60 }))) return true;
  const lease = await post(callId, "claim", { by: tab, seconds: 60 });
  if (lease) sessionStorage[`claim ${callId}`] = lease.claim;
  return lease !== undefined;
}

async function post(callId, what, body) {
  const response = await fetch(`/v1/calls/${encodeURIComponent(callId)}/${what}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.ok ? response.json() : undefined;
}
