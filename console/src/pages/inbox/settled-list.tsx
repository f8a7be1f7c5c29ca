import { nameOf } from "handback/client";
import { Archive, ArrowLeft } from "lucide-react";
import { Link, useLocation } from "wouter";
import { to } from "../../app/place.ts";
import { useMedia } from "../../app/use-media.ts";
import { toolOf, useSettled, useThreads } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { StatusPill, toStatus } from "../../ui/status-pill.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { Detail } from "./detail.tsx";

/** What was answered, or no longer can be: who, when and how. */
export function SettledList({ status, callId }: { status: "answered" | "expired"; callId: string | undefined }) {
  const t = useT();
  const [, go] = useLocation();
  const { threads } = useThreads();
  const titles = new Map(threads.map((thread) => [nameOf(thread), thread.title]));
  const { calls, loading, more } = useSettled({ status });
  const beside = useMedia("(min-width: 900px)");
  if (loading) return <SkeletonRows label={t("ui.loading")} className="flex-1 p-6" />;
  if (calls.length === 0)
    return (
      <div className="flex-1">
        <EmptyState icon={<Archive />} title={t(status === "answered" ? "inbox.noneAnswered" : "inbox.noneExpired")} />
      </div>
    );
  return (
    <>
      {(beside || callId === undefined) && (
        <section aria-label={t("inbox.list")} className="flex w-full min-w-0 flex-col border-line bg-surface md:max-w-md md:border-r">
          <VirtualList
            label={t("inbox.list")}
            items={calls}
            keyOf={({ id }) => id}
            estimate={61}
            render={(call) => (
              <Link
                href={to.inbox(call.id, { tab: status })}
                aria-current={call.id === callId ? "true" : undefined}
                className={cx(
                  "block border-b border-line px-4 py-2.5 -outline-offset-2 hover:bg-hover",
                  call.id === callId && "bg-accent-soft",
                )}
              >
                <span className="flex items-center gap-2">
                  <span className="min-w-0 flex-1 truncate font-mono text-sm font-semibold">{toolOf(call)}</span>
                  <StatusPill status={call.status === "resolved" ? "done" : toStatus(call.status)} />
                </span>
                <span className="flex gap-2 text-sm text-muted">
                  <span className="min-w-0 flex-1 truncate">{titles.get(nameOf(call)) ?? call.threadId}</span>
                  <RelativeTime at={call.settledAt ?? call.createdAt} />
                </span>
              </Link>
            )}
            after={
              more && (
                <div className="p-4 text-center">
                  <Button onClick={more}>{t("threads.more")}</Button>
                </div>
              )
            }
          />
        </section>
      )}
      {(beside || callId !== undefined) && (
        <section aria-label={t("inbox.detail")} tabIndex={0} className="min-w-0 flex-1 overflow-auto bg-canvas -outline-offset-2">
          {!beside && (
            <div className="p-2">
              <Button
                kind="ghost"
                size="sm"
                icon={<ArrowLeft aria-hidden className="size-4" />}
                onClick={() => go(to.inbox(undefined, { tab: status }))}
              >
                {t("inbox.back")}
              </Button>
            </div>
          )}
          {callId === undefined ? <p className="p-8 text-muted">{t("inbox.choose")}</p> : <Detail key={callId} callId={callId} />}
        </section>
      )}
    </>
  );
}
