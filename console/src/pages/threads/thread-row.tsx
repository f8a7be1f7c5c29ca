import { nameOf, type Thread } from "handback/client";
import { Download, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { memo, useState } from "react";
import { Link } from "wouter";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { saveLog } from "../../call/save-log.ts";
import { useTry } from "../../call/use-try.ts";
import { useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Count } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import { Menu } from "../../ui/menu.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { RelativeTime } from "../../ui/time.tsx";

/** A thread in the list, and what can be done with it. */
export const ThreadRow = memo(function ThreadRow({ thread }: { thread: Thread }) {
  const t = useT();
  const { rename, remove, undoRemove, exportThread } = useActions();
  const attempt = useTry();
  const [name, setName] = useState<string>();
  const threadId = nameOf(thread);
  const title = thread.title ?? t("chat.untitled");
  const save = () => {
    if (name !== undefined && name.trim() !== "" && name.trim() !== thread.title) void attempt(rename(threadId, name.trim()));
    setName(undefined);
  };
  const drop = () => {
    remove(threadId, title);
    toast({ text: t("chat.deleted", { title }), action: { label: t("chat.undo"), run: () => undoRemove(threadId) }, ms: 5_000 });
  };
  return (
    <div className="mx-auto w-full max-w-5xl px-2 md:px-6">
      <div className="flex min-h-15 items-center gap-3 border-b border-line px-2 hover:bg-hover" data-testid="thread-row">
        {name === undefined ? (
          <Link href={to.chat(threadId)} className="min-w-0 flex-1 rounded py-2.5">
            <span className="block truncate font-medium">{title}</span>
            <span className="block truncate text-sm text-muted">
              {[thread.user, thread.agent, thread.threadId].filter(Boolean).join(" · ")}
            </span>
          </Link>
        ) : (
          <TextInput
            aria-label={t("chat.rename")}
            autoFocus
            className="flex-1"
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
            onBlur={save}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (event.key === "Enter") save();
              if (event.key === "Escape") setName(undefined);
            }}
          />
        )}
        <Count n={thread.pending} label={t("shell.pending", { n: thread.pending })} />
        <StatusPill status={thread.status} className="max-sm:hidden" />
        <RelativeTime at={thread.updatedAt} className="w-20 text-right text-sm text-muted" />
        <Menu
          items={[
            { label: t("chat.rename"), icon: <Pencil className="size-4" />, onSelect: () => setName(title) },
            { label: t("chat.export"), icon: <Download className="size-4" />, onSelect: () => void saveLog(threadId, exportThread, t) },
            "line",
            { label: t("chat.delete"), icon: <Trash2 className="size-4" />, danger: true, onSelect: drop },
          ]}
        >
          <IconButton size="sm" label={t("threads.menu", { title })} icon={<MoreHorizontal className="size-4" />} />
        </Menu>
      </div>
    </div>
  );
});
