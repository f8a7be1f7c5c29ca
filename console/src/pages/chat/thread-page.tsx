import { Download, Link2, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { useKeys } from "../../app/use-keys.ts";
import { saveFile } from "../../call/save-file.ts";
import { useActions, useReplay, useThread } from "../../data/hooks.ts";
import { useThreadDock } from "../../dock/panels.tsx";
import { useT } from "../../i18n/i18n.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { Heading } from "./heading.tsx";
import { ReplayBar } from "./replay-bar.tsx";

/** One thread: what was said, what waits, and a place to answer. */
export function ThreadPage({ threadId }: { threadId: string }) {
  const t = useT();
  const [, go] = useLocation();
  const { view, live: latest, loading, missing, outgoing } = useThread(threadId);
  const replay = useReplay(threadId);
  const { stop, rename, remove, undoRemove, exportThread } = useActions();
  const [renaming, setRenaming] = useState(false);
  const dock = useThreadDock(threadId, view);
  const running = latest.status === "running";
  useKeys({ ".": running ? () => void stop(threadId) : undefined });

  const title = latest.title ?? t("chat.untitled");
  if (missing && outgoing.length === 0)
    return (
      <Page title={t("chat.missing")}>
        <EmptyState
          title={t("chat.missing")}
          hint={t("chat.missingHint")}
          action={<Button onClick={() => go("/")}>{t("shell.newThread")}</Button>}
        />
      </Page>
    );
  const drop = () => {
    remove(threadId, title);
    go(to.threads());
    toast({ text: t("chat.deleted", { title }), action: { label: t("chat.undo"), run: () => undoRemove(threadId) }, ms: 5_000 });
  };
  const saveLog = async () => saveFile(`${threadId}.jsonl`, await exportThread(threadId));
  return (
    <Page
      title={title}
      heading={
        <Heading title={title} renaming={renaming} onRename={(name) => void rename(threadId, name)} onClose={() => setRenaming(false)} />
      }
      status={<StatusPill status={latest.status} />}
      dock={dock}
      actions={
        <Menu
          items={[
            { label: t("chat.rename"), icon: <Pencil className="size-4" />, onSelect: () => setRenaming(true) },
            { label: t("chat.export"), icon: <Download className="size-4" />, onSelect: () => void saveLog() },
            {
              label: t("chat.copyLink"),
              icon: <Link2 className="size-4" />,
              onSelect: () => void navigator.clipboard?.writeText(location.href),
            },
            "line",
            { label: t("chat.delete"), icon: <Trash2 className="size-4" />, danger: true, onSelect: drop },
          ]}
        >
          <IconButton label={t("chat.threadMenu")} icon={<MoreHorizontal className="size-4.5" />} />
        </Menu>
      }
    >
      <ReplayBar replay={replay} />
      {loading && view.messages.length === 0 && outgoing.length === 0 ? (
        <SkeletonRows label={t("ui.loading")} rows={4} className="mx-auto w-full max-w-3xl flex-1 p-6" />
      ) : (
        <Conversation threadId={threadId} view={view} live={replay.live} outgoing={outgoing} />
      )}
      <Announcer view={latest} />
      <Composer threadId={threadId} view={latest} outgoing={outgoing} />
    </Page>
  );
}
