import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { useKeys } from "../../app/use-keys.ts";
import { useMedia, WIDE } from "../../app/use-media.ts";
import { useParam } from "../../app/use-param.ts";
import { useTry } from "../../call/use-try.ts";
import { isFile, useActions, useReplay, useThread } from "../../data/hooks.ts";
import { useThreadDock } from "../../dock/panels.tsx";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { Conversation, type ConversationHandle } from "./conversation.tsx";
import { FileBar } from "./file-bar.tsx";
import { Heading } from "./heading.tsx";
import { ReplayBar } from "./replay-bar.tsx";
import { ThreadMenu } from "./thread-menu.tsx";

/** One thread: what was said, what waits, and a place to answer. */
export function ThreadPage({ threadId }: { threadId: string }) {
  const t = useT();
  const [, go] = useLocation();
  const { view, live: latest, loading, missing, error, outgoing } = useThread(threadId);
  const replay = useReplay(threadId);
  const { stop, rename } = useActions();
  const attempt = useTry();
  const [renaming, setRenaming] = useState(false);
  const conversation = useRef<ConversationHandle>(null);
  const dock = useThreadDock(threadId, view);
  const file = isFile(threadId);
  useDocumentThatOpens(latest.writing);
  useKeys({ ".": latest.status === "running" ? () => void attempt(stop(threadId)) : undefined });

  const title = latest.title ?? t("chat.untitled");
  if (missing && outgoing.length === 0)
    return (
      <Page title={t(file ? "chat.fileGone" : "chat.missing")}>
        <EmptyState
          title={t(file ? "chat.fileGone" : "chat.missing")}
          hint={t(file ? "chat.fileGoneHint" : "chat.missingHint")}
          action={<Button onClick={() => go(file ? "/threads" : "/")}>{t(file ? "threads.title" : "shell.newThread")}</Button>}
        />
      </Page>
    );
  return (
    <Page
      title={title}
      heading={
        <Heading
          title={title}
          renaming={renaming}
          onRename={(name) => void attempt(rename(threadId, name))}
          onClose={() => setRenaming(false)}
        />
      }
      status={<StatusPill status={latest.status} />}
      dock={dock}
      actions={!file && <ThreadMenu threadId={threadId} title={title} onRename={() => setRenaming(true)} />}
    >
      {file && <FileBar threadId={threadId} />}
      <ReplayBar replay={replay} />
      {error && view.messages.length === 0 && (
        <p role="alert" className="p-6 text-bad">
          {error.message}
        </p>
      )}
      {loading && view.messages.length === 0 && outgoing.length === 0 ? (
        <SkeletonRows label={t("ui.loading")} rows={4} className="mx-auto w-full max-w-3xl flex-1 p-6" />
      ) : (
        <Conversation ref={conversation} threadId={threadId} view={view} live={replay.live && !file} outgoing={outgoing} />
      )}
      <Announcer view={latest} loading={loading} />
      {!file && <Composer threadId={threadId} view={latest} onAnswer={(id) => conversation.current?.focus(id)} />}
    </Page>
  );
}

/** A document that the agent begins to write opens by itself, where there is room beside the conversation. Once closed it stays closed. */
function useDocumentThatOpens(writing: string | undefined): void {
  const beside = useMedia(WIDE);
  const [, setDock] = useParam("dock");
  const [, setDocument] = useParam("document");
  const opened = useRef<string>(undefined);
  useEffect(() => {
    if (writing === undefined || !beside || opened.current === writing) return;
    opened.current = writing;
    setDocument(undefined);
    setDock("document");
  }, [writing, beside, setDock, setDocument]);
}
