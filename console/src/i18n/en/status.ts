/** The one vocabulary for how things stand. No page has words of its own for it. */
export const status = {
  idle: "Idle",
  running: "Running",
  streaming: "Writing arguments",
  dispatched: "Handed out",
  waiting: "Waiting",
  claimed: "Claimed",
  done: "Done",
  rejected: "Rejected",
  failed: "Failed",
  expired: "Expired",
  cancelled: "Cancelled",
  browser: "browser",
  external: "external",
  human: "human",
  server: "server",
  waitingFor: "Waiting ({owner})",
} as const;
