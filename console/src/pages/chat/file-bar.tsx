import { FileText, Upload } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { newThreadId, useActions } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";

/** Says that the thread is a file, and offers to make it one of the server's. */
export function FileBar({ threadId }: { threadId: string }) {
  const t = useT();
  const [, go] = useLocation();
  const { importThread } = useActions();
  const [busy, setBusy] = useState(false);
  const bring = async () => {
    setBusy(true);
    // Under a name of its own: where it came from may well be here.
    const done = await importThread(threadId, newThreadId());
    setBusy(false);
    if (done.ok) go(to.chat(done.value.threadId));
    else toast({ text: t("chat.didNotWork", { why: done.error.message }), tone: "bad", ms: 10_000 });
  };
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-info-line bg-info-soft px-4 py-2 text-sm text-info">
      <FileText aria-hidden className="size-4" />
      <span className="min-w-0 flex-1">{t("chat.fromFile")}</span>
      <Button size="sm" busy={busy} icon={<Upload aria-hidden className="size-3.5" />} onClick={() => void bring()}>
        {t("chat.importFile")}
      </Button>
    </div>
  );
}
