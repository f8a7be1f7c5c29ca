import { nameOf, type Thread } from "handback/client";
import { Play } from "lucide-react";
import { Link, useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { useThreads } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";

/** The last run of every thread. */
export default function RunsPage() {
  const t = useT();
  const [, go] = useLocation();
  const { threads, loading, more } = useThreads();
  return (
    <Page title={t("runs.title")}>
      {loading ? (
        <SkeletonRows label={t("ui.loading")} className="p-6" />
      ) : threads.length === 0 ? (
        <EmptyState
          icon={<Play />}
          title={t("runs.none")}
          hint={t("runs.noneHint")}
          action={
            <Button kind="primary" onClick={() => go("/")}>
              {t("shell.newThread")}
            </Button>
          }
        />
      ) : (
        <VirtualList
          label={t("runs.title")}
          items={threads}
          keyOf={nameOf}
          estimate={57}
          before={<p className="mx-auto w-full max-w-5xl px-4 pt-5 pb-3 text-muted md:px-8">{t("runs.hint")}</p>}
          render={(thread) => <Row thread={thread} />}
          after={
            more && (
              <div className="p-4 text-center">
                <Button onClick={more}>{t("threads.more")}</Button>
              </div>
            )
          }
        />
      )}
    </Page>
  );
}

function Row({ thread }: { thread: Thread }) {
  const t = useT();
  return (
    <div className="mx-auto w-full max-w-5xl px-2 md:px-6">
      <Link
        href={to.run(`${nameOf(thread)}:latest`)}
        className="flex min-h-15 items-center gap-3 border-b border-line px-2 py-2 -outline-offset-2 hover:bg-hover"
      >
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{thread.title ?? t("chat.untitled")}</span>
          <span className="block truncate text-sm text-muted">{[thread.user, thread.agent].filter(Boolean).join(" · ")}</span>
        </span>
        <StatusPill status={thread.status} />
        <RelativeTime at={thread.updatedAt} className="w-20 text-right text-sm text-muted" />
      </Link>
    </div>
  );
}
