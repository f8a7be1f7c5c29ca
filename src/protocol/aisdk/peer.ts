import { AppError } from "../../core/error.ts";

/**
 * The majors of the AI SDK we tell apart. `aisdk:5` is the portable core that every release since 5.0.0 reads,
 * so it also serves clients that name no version.
 */
export type Peer = "aisdk:5" | "aisdk:6" | "aisdk:7";

/** What each wire may carry: only what the first release of its major reads. */
export const KNOWS = {
  "aisdk:5": { approvals: false, responses: false },
  "aisdk:6": { approvals: true, responses: false },
  "aisdk:7": { approvals: true, responses: true },
} as const satisfies Record<Peer, object>;

/** The peer of a version, named as `6`, `v6` or `core`. Later majors read what 7 reads. */
export function peerOf(version: string | undefined): Peer {
  if (version === undefined || version === "core") return "aisdk:5";
  const major = Number(/^v?(\d+)(\.|$)/.exec(version)?.[1]);
  if (!(major >= 5))
    throw new AppError("invalid", `v: ${version} is no version of the AI SDK this server speaks; name 5, 6 or 7`, { field: "v" });
  return major === 5 ? "aisdk:5" : major === 6 ? "aisdk:6" : "aisdk:7";
}
