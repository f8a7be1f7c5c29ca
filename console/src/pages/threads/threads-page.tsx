import { nameOf } from "handback/client";
import { FolderOpen, MessagesSquare, Plus, Search } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Page } from "../../app/page.tsx";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { useKeys } from "../../app/use-keys.ts";
import { useParam } from "../../app/use-param.ts";
import { useActions, useThreads } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { Segmented } from "../../ui/tabs.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import { ThreadRow } from "./thread-row.tsx";

const STATES = ["all", "running", "waiting", "idle"] as const;

/** Every thread: found by what was said in it, named, exported, deleted. */
export default function ThreadsPage() {
  const t = useT();
  const [, go] = useLocation();
  const [search = "", setSearch] = useParam("q");
  const [status = "all", setStatus] = useParam("status");
  const asked = useDeferredValue(search);
  const field = useRef<HTMLInputElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const [opening, setOpening] = useState(false);
  const { openFile } = useActions();
  const { threads, loading, more, error } = useThreads({ search: asked, ...(isState(status) && { status }) });
  useKeys({ "/": () => field.current?.focus() });
  const bring = async (chosen: File | undefined) => {
    if (!chosen) return;
    setOpening(true);
    const done = await openFile(chosen);
    setOpening(false);
    if (file.current) file.current.value = ""; // the same one may be chosen again
    if (done.ok) go(to.chat(done.value));
    else toast({ text: t("threads.openFailed", { why: done.error.message }), tone: "bad", ms: 10_000 });
  };
  const filtered = search !== "" || status !== "all";
  return (
    <Page
      title={t("threads.title")}
      actions={
        <>
          <input
            ref={file}
            type="file"
            accept=".jsonl,.ndjson,application/x-ndjson,application/jsonl"
            className="sr-only"
            tabIndex={-1}
            aria-label={t("threads.open")}
            onChange={(event) => void bring(event.target.files?.[0])}
          />
          <Button size="sm" busy={opening} icon={<FolderOpen aria-hidden className="size-3.5" />} onClick={() => file.current?.click()}>
            {t("threads.open")}
          </Button>
          <Button size="sm" kind="primary" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => go("/")}>
            {t("shell.newThread")}
          </Button>
        </>
      }
    >
      <div className="shrink-0 border-b border-line bg-surface py-2.5">
        <div className="mx-auto flex w-full max-w-5xl flex-wrap items-center gap-3 px-4 md:px-6">
          <div className="relative min-w-48 flex-1">
            <Search aria-hidden className="pointer-events-none absolute top-2.5 left-2.5 size-4 text-muted" />
            <TextInput
              ref={field}
              type="search"
              className="pl-8"
              aria-label={t("threads.search")}
              placeholder={t("threads.search")}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          </div>
          <Segmented
            label={t("threads.status")}
            value={status}
            onChange={(id) => setStatus(id === "all" ? undefined : id)}
            options={STATES.map((id) => ({ id: id as string, label: t(id === "all" ? "threads.all" : `status.${id}`) }))}
          />
        </div>
      </div>
      {error && (
        <p role="alert" className="p-6 text-bad">
          {error.message}
        </p>
      )}
      {loading && threads.length === 0 ? (
        <SkeletonRows label={t("ui.loading")} className="mx-auto w-full max-w-5xl p-6" />
      ) : threads.length === 0 ? (
        <EmptyState
          icon={<MessagesSquare />}
          title={t(filtered ? "threads.nothingFound" : "threads.none")}
          hint={t(filtered ? "threads.nothingFoundHint" : "threads.noneHint")}
          action={
            filtered ? (
              <Button onClick={() => go(to.threads())}>{t("threads.showAll")}</Button>
            ) : (
              <Button kind="primary" onClick={() => go("/")}>
                {t("shell.newThread")}
              </Button>
            )
          }
        />
      ) : (
        <VirtualList
          label={t("threads.title")}
          items={threads}
          keyOf={nameOf}
          estimate={61}
          render={(thread) => <ThreadRow thread={thread} />}
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

function isState(word: string): word is "running" | "waiting" | "idle" {
  return word === "running" || word === "waiting" || word === "idle";
}
