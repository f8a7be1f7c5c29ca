import { Ban, CircleCheck, CircleDashed, CircleDot, CircleX, Clock, Hand, Hourglass, Loader, PencilLine, Send } from "lucide-react";
import type { ComponentType } from "react";
import type { Key } from "../i18n/i18n.ts";
import { useT } from "../i18n/i18n.ts";
import { Badge, type Tone } from "./badge.tsx";
import { cx } from "./cx.ts";

/** How a call, a run or a thread stands. The only words for it there are: icon, word and colour, never colour alone. */
export type Status =
  | "idle"
  | "running"
  | "streaming"
  | "dispatched"
  | "waiting"
  | "claimed"
  | "done"
  | "rejected"
  | "failed"
  | "expired"
  | "cancelled";

/** Whom it waits for. */
export type Role = "browser" | "external" | "human" | "server";

type Look = { icon: ComponentType<{ className?: string; "aria-hidden"?: boolean }>; tone: Tone; key: Key; moves?: boolean };

export const STATUS: Record<Status, Look> = {
  idle: { icon: CircleDashed, tone: "quiet", key: "status.idle" },
  running: { icon: Loader, tone: "info", key: "status.running", moves: true },
  streaming: { icon: PencilLine, tone: "info", key: "status.streaming", moves: true },
  dispatched: { icon: Send, tone: "info", key: "status.dispatched" },
  waiting: { icon: Hourglass, tone: "wait", key: "status.waiting" },
  claimed: { icon: Hand, tone: "claim", key: "status.claimed" },
  done: { icon: CircleCheck, tone: "good", key: "status.done" },
  rejected: { icon: Ban, tone: "bad", key: "status.rejected" },
  failed: { icon: CircleX, tone: "bad", key: "status.failed" },
  expired: { icon: Clock, tone: "quiet", key: "status.expired" },
  cancelled: { icon: CircleDot, tone: "quiet", key: "status.cancelled" },
};

/** The word for a status the log or a row uses. */
export function toStatus(word: string): Status {
  if (word === "completed") return "done";
  if (word === "pending") return "waiting";
  return word in STATUS ? (word as Status) : "idle";
}

export function StatusPill({ status, waitingFor, className }: { status: Status; waitingFor?: Role | undefined; className?: string }) {
  const t = useT();
  const { icon: Icon, tone, key, moves } = STATUS[status];
  const word = status === "waiting" && waitingFor ? t("status.waitingFor", { owner: t(`status.${waitingFor}`) }) : t(key);
  return (
    <Badge tone={tone} className={className ?? ""} icon={<Icon aria-hidden className={cx("size-3", moves && "animate-breathe")} />}>
      {word}
    </Badge>
  );
}
