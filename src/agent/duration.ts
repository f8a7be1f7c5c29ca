import { AppError } from "../core/error.ts";

/** Milliseconds, or a number with its unit: `"30s"`, `"5m"`, `"2h"`, `"7d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function toMs(duration: Duration, field: string): number {
  if (typeof duration === "number" && Number.isFinite(duration) && duration >= 0) return duration;
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration)) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new AppError("invalid", `${field}: ${JSON.stringify(duration)} is no duration; write milliseconds or "30s", "5m", "2h", "7d"`, {
      field,
    });
  }
  return Number(amount) * UNITS[unit as keyof typeof UNITS];
}
